import { Hono } from "hono";
import { bodyOf, strangersMs } from "manyhands/internal/http/request-body";
import type { Triggers } from "./triggers.ts";

/** The path of webhooks below the gateway's address. */
export const webhookPath = "/hooks";

/**
 * Receives webhooks. Their senders have no token: what counts is the signature over the bytes of
 * the body.
 */
export function triggerApp(triggers: Pick<Triggers, "has" | "receive">): Hono {
  const app = new Hono({ strict: false });
  app.post(`${webhookPath}/:name`, async (c) => {
    const name = c.req.param("name");
    const body = triggers.has(name) ? new Uint8Array(await bodyOf(c, strangersMs)) : new Uint8Array();
    const received = await triggers.receive(name, { headers: c.req.raw.headers, body });
    if (received.state === "challenge") return c.text(received.challenge);
    return c.json(received, 202);
  });
  return app;
}
