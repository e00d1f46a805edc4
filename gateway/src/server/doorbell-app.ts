import { Hono } from "hono";
import type { Doorbell } from "manyhands/internal/a2a/ask/doorbell";
import { AppError } from "manyhands/internal/core/errors";
import { limitedBody } from "manyhands/internal/http/request-body";
import { doorbellPath } from "./open-doorbell.ts";

/** Where agents ring: a notification of A2A, of which only the token counts. */
export function doorbellApp(doorbell: Doorbell | undefined): Hono {
  const app = new Hono({ strict: false });
  app.post(`${doorbellPath}/:ask`, limitedBody(), (c) => {
    if (doorbell === undefined) throw new AppError("not_found", "Nobody rings here.");
    doorbell.ring(c.req.param("ask"), c.req.header("X-A2A-Notification-Token") ?? "");
    return c.body(null, 204);
  });
  return app;
}
