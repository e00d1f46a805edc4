import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Hono } from "hono";
import { createPushCallbacks, type PushCallbacks } from "manyhands/internal/a2a/ask/push-callbacks";
import { AppError } from "manyhands/internal/core/errors";
import { limitedBody } from "manyhands/internal/http/request-body";
import { ownSecret } from "manyhands/internal/machine/own-secret";

/** The path below the gateway's address where agents ring. */
const pushCallbackPath = "/doorbell";

/**
 * Where agents elsewhere ring, for a gateway that was told where it is reached from outside; nobody
 * could find one that was not.
 */
export async function openPushCallbacks(
  home: string,
  publicUrl: string | undefined,
): Promise<PushCallbacks | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${publicUrl.replace(/\/+$/, "")}${pushCallbackPath}`;
  const secret = await ownSecret(join(home, "doorbell-key"), () => Buffer.from(randomBytes(32).toString("base64url")));
  return createPushCallbacks({ url, secret: secret.toString() });
}

/** Where agents ring: a notification of A2A, of which only the token counts. */
export function pushCallbackApp(pushCallbacks: PushCallbacks | undefined): Hono {
  const app = new Hono({ strict: false });
  app.post(`${pushCallbackPath}/:ask`, limitedBody(), (c) => {
    if (pushCallbacks === undefined) throw new AppError("not_found", "Nobody rings here.");
    pushCallbacks.notify(c.req.param("ask"), c.req.header("X-A2A-Notification-Token") ?? "");
    return c.body(null, 204);
  });
  return app;
}
