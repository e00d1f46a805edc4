import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

/**
 * Lets pages of these origins call the server and read its answers, after a preflight that a
 * browser may remember for ten minutes. No cookie is involved: a page authenticates by header.
 */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  if (origins.length === 0) return (_, next) => next();
  return cors({
    origin: [...origins],
    allowMethods: ["GET", "POST", "DELETE"],
    allowHeaders: [
      "Authorization",
      "X-API-Key",
      "Content-Type",
      "A2A-Version",
      "A2A-Extensions",
      "X-A2A-Extensions",
      "Last-Event-ID",
      "If-None-Match",
      "Idempotency-Key",
      "Prefer",
      "Mcp-Session-Id",
      "Mcp-Protocol-Version",
      "Mcp-Method",
      "Mcp-Name",
      "Manyhands-Context",
      "Manyhands-Principal",
      "Traceparent",
      "Tracestate",
    ],
    exposeHeaders: [
      "A2A-Extensions",
      "X-A2A-Extensions",
      "ETag",
      "Location",
      "Mcp-Session-Id",
      "Preference-Applied",
      "Retry-After",
      "WWW-Authenticate",
    ],
    maxAge: 600,
  });
}
