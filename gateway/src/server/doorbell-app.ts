import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Hono } from "hono";
import { createDoorbell, type Doorbell } from "manyhands/internal/a2a/ask/doorbell";
import { AppError } from "manyhands/internal/core/errors";
import { limitedBody } from "manyhands/internal/http/request-body";
import { ownSecret } from "manyhands/internal/machine/own-secret";

/** The path below the gateway's address where agents ring. */
const doorbellPath = "/doorbell";

/** Where agents elsewhere ring, for a gateway that was told where it is reached from outside; nobody could find one that was not. */
export async function openDoorbell(home: string, publicUrl: string | undefined): Promise<Doorbell | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${publicUrl.replace(/\/+$/, "")}${doorbellPath}`;
  const secret = await ownSecret(join(home, "doorbell-key"), () => Buffer.from(randomBytes(32).toString("base64url")));
  return createDoorbell({ url, secret: secret.toString() });
}

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
