import type { MiddlewareHandler } from "hono";
import { Hono } from "hono";
import { ScopeError, scopes } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { QuotaError } from "../core/runs/quota.ts";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";

/**
 * The header that tells a refused caller what it lacks: credentials, a scope (RFC 6750), or time
 * until its limits have room again. Also for an error whose cause was the refusal.
 */
export function challengeOf(error: unknown): Record<string, string> {
  const refusal = error instanceof Error && error.cause instanceof AppError ? error.cause : error;
  if (refusal instanceof ScopeError)
    return { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${refusal.scope}"` };
  if (refusal instanceof QuotaError) return { "Retry-After": String(refusal.retryAfter) };
  return refusal instanceof AppError && refusal.code === "unauthorized" ? { "WWW-Authenticate": "Bearer" } : {};
}

/**
 * Receives a refused request, for the log; what comes with its reason counts before what does not.
 */
export type ReportRefusal = (
  told: { method: string; path: string; status: number; reason?: string },
  request: Request,
) => void;

/** Reports every answer that refuses a caller. */
export function auditRefusals(report: ReportRefusal): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { status } = c.res;
    if (status !== 401 && status !== 403) return;
    report({ method: c.req.method, path: c.req.path.slice(0, 200), status }, c.req.raw);
  };
}

const metadataPath = "/.well-known/oauth-protected-resource";

/**
 * For a server that accepts an issuer's tokens: says whose in its metadata (RFC 9728), and where
 * that is in every challenge, as MCP clients need it to sign in.
 */
export function protectedResource(publicUrl: string, issuer: string): Hono {
  const base = withoutLastSlashes(publicUrl);
  const metadata = `resource_metadata="${base}${metadataPath}`;
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    const challenge = c.res.headers.get("WWW-Authenticate");
    if (challenge?.startsWith("Bearer") !== true) return;
    const more = `${metadata}${c.req.path === "/mcp" ? "/mcp" : ""}"`;
    c.res.headers.set("WWW-Authenticate", `${challenge}${challenge === "Bearer" ? " " : ", "}${more}`);
  });
  for (const path of ["", "/mcp"])
    app.get(metadataPath + path, (c) =>
      c.json({
        resource: base + path,
        authorization_servers: [issuer],
        scopes_supported: scopes,
        bearer_methods_supported: ["header"],
      }),
    );
  return app;
}
