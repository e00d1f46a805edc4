import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { createPushCallbacks, type PushCallbacks } from "manyhands/internal/a2a/ask/push-callbacks";
import type { KeySets } from "manyhands/internal/a2a/signing/key-sets";
import { AppError } from "manyhands/internal/core/errors";
import { type KeptText, madeOnce } from "manyhands/internal/core/text/kept-text";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import { bodyOf, strangersMs } from "manyhands/internal/http/request-body";

/**
 * The path of push callbacks below the gateway's address, by the name that agents elsewhere were
 * given: they call it back for as long as their tasks last.
 */
const pushCallbackPath = "/doorbell";

/**
 * Push callbacks for agents elsewhere; undefined without a public URL, because nobody could reach
 * them.
 */
export async function openPushCallbacks(
  key: KeptText,
  publicUrl: string | undefined,
  keySets: KeySets,
): Promise<PushCallbacks | undefined> {
  if (publicUrl === undefined) return undefined;
  const url = `${withoutLastSlashes(publicUrl)}${pushCallbackPath}`;
  const secret = await madeOnce(key, () => randomBytes(32).toString("base64url"));
  return createPushCallbacks({ url, secret, keySets });
}

/** Receives A2A push notifications, whose content is not trusted. */
export function pushCallbackApp(pushCallbacks: PushCallbacks | undefined): Hono {
  const app = new Hono({ strict: false });
  app.post(`${pushCallbackPath}/:ask`, async (c) => {
    if (pushCallbacks === undefined) throw new AppError("not_found", "This gateway receives no push notifications.");
    const body = new TextDecoder().decode(await bodyOf(c, strangersMs));
    await pushCallbacks.notify(c.req.param("ask"), { headers: c.req.raw.headers, body });
    return c.body(null, 204);
  });
  return app;
}
