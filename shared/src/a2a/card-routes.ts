import { A2A_VERSION_HEADER, type AgentCard } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import { cardJson, mergedCardJson } from "./card.ts";

/**
 * The card at its two addresses: pure 1.0 at `agent-card.json`, which strict readers check, and merged with the fields of 0.3 at
 * `agent.json`, where clients of 0.3 look, or for whoever sends `A2A-Version: 0.3`.
 */
export function cardApp(card: AgentCard, handler: A2ARequestHandler): Hono {
  const app = new Hono();
  const headers = {
    "Cache-Control": "public, max-age=60",
    "Last-Modified": new Date().toUTCString(),
    Vary: A2A_VERSION_HEADER,
  };
  const merged = async (c: Context) => c.json(await mergedCardJson(card, handler), 200, headers);
  app.use("/.well-known/*", etag());
  app.get("/.well-known/agent.json", merged);
  app.get("/.well-known/agent-card.json", (c) => {
    const legacy = c.req.header(A2A_VERSION_HEADER)?.trim().startsWith("0.3") ?? false;
    return legacy ? merged(c) : c.json(cardJson(card), 200, headers);
  });
  return app;
}
