import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Hono } from "hono";
import { createPushCallbacks, type PushCallbacks } from "manyhands/internal/a2a/ask/push-callbacks";
import type { KeySets } from "manyhands/internal/a2a/signing/key-sets";
import { AppError } from "manyhands/internal/core/errors";
import { limitedBody } from "manyhands/internal/http/request-body";
import { ownSecret } from "manyhands/internal/machine/own-secret";

/** The path of push callbacks below the gateway's address. */
const pushCallbackPath = "/doorbell";

/**
 * Push callbacks for agents elsewhere; undefined without a public URL, because nobody could reach
 * them.
 */
export async function openPushCallbacks(
  home: string,
  publicUrl: string | undefined,
  keySets: KeySets,
): Promise<PushCallbacks | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${publicUrl.replace(/\/+$/, "")}${pushCallbackPath}`;
  const secret = await ownSecret(join(home, "doorbell-key"), () => Buffer.from(randomBytes(32).toString("base64url")));
  return createPushCallbacks({ url, secret: secret.toString(), keySets });
}

/** Receives A2A push notifications, whose content is not trusted. */
export function pushCallbackApp(pushCallbacks: PushCallbacks | undefined): Hono {
  const app = new Hono({ strict: false });
  app.post(`${pushCallbackPath}/:ask`, limitedBody(), async (c) => {
    if (pushCallbacks === undefined) throw new AppError("not_found", "This gateway receives no push notifications.");
    await pushCallbacks.notify(c.req.param("ask"), { headers: c.req.raw.headers, body: await c.req.text() });
    return c.body(null, 204);
  });
  return app;
}
