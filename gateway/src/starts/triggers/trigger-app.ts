import { Hono } from "hono";
import { bodyOf, strangersMs } from "manyhands/internal/http/request-body";
import type { Triggers } from "./triggers.ts";

/** The path of webhooks below the gateway's address. */
export const webhookPath = "/hooks";

/**
 * Receives webhooks. Their senders have no token: what counts is the signature over the bytes of
 * the body.
 */
export function triggerApp(triggers: Pick<Triggers, "typeOf" | "receive">): Hono {
  const app = new Hono({ strict: false });
  app.post(`${webhookPath}/:name`, async (c) => {
    const name = c.req.param("name");
    const type = triggers.typeOf(name);
    const body = type === undefined ? new Uint8Array() : new Uint8Array(await bodyOf(c, strangersMs));
    const received = await triggers.receive(name, { headers: c.req.raw.headers, body });
    if (received.state === "challenge") return c.text(received.challenge);
    if (type !== "slack") return c.json(received, 202);
    // Slack takes no other status for a command, and shows the text to whoever gave it.
    const isStarted = received.state === "started";
    const text = isStarted ? `Started run ${received.runId}.` : `Nothing is started: ${received.reason}.`;
    return c.json({ ...received, text });
  });
  return app;
}
