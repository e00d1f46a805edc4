import { A2A_VERSION_HEADER, type AgentCard } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import { cardJson, mergedCardJson } from "./card.ts";

/** Which card a caller is shown that names no version: with the fields of 0.3 beside those of 1.0, or those of 1.0 alone. */
export type CardStyle = "merged" | "strict";

/**
 * The card at its two addresses. At `agent-card.json`, where clients of either version look, whoever sends `A2A-Version` gets the card of that
 * version, which strict readers check, and everyone else the one of `style`; at `agent.json`, where old clients look, it is always merged.
 */
export function cardApp(card: AgentCard, handler: A2ARequestHandler, style: CardStyle): Hono {
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
    const named = c.req.header(A2A_VERSION_HEADER)?.trim() ?? "";
    const strict = named.startsWith("1.") || (style === "strict" && !named.startsWith("0.3"));
    return strict ? c.json(cardJson(card), 200, headers) : merged(c);
  });
  return app;
}
