import { Hono, type MiddlewareHandler } from "hono";
import { type Identify, requireScope, type Scope } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import { requireJsonBytes } from "manyhands/internal/http/json-text";
import { limitedBody } from "manyhands/internal/http/request-body";
import { untilRevoked } from "manyhands/internal/http/until-revoked";
import type { RestEndpoint, RestEnv } from "./endpoint.ts";
import { problem } from "./problem.ts";

/** What the REST API needs. */
export type RestDeps = {
  readonly identify: Identify;
  /** Receives unexpected errors. */
  readonly report: (bug: unknown) => void;
};

/** The endpoints as an app. Every error leaves as a problem of the table all adapters share. */
export function restApp(endpoints: readonly RestEndpoint[], deps: RestDeps): Hono<RestEnv> {
  const app = new Hono<RestEnv>({ strict: false });
  app.onError((error) => problem(error, deps.report));
  const identified = (scope: Scope): MiddlewareHandler<RestEnv> => {
    return async (c, next) => {
      const caller = await deps.identify(c.req.raw);
      requireScope(caller, scope);
      c.set("caller", caller);
      await next();
    };
  };
  for (const { method, path, request, handle, scope = method === "get" ? "read" : "run" } of endpoints) {
    const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
    const before = request.body === undefined ? [identified(scope)] : [identified(scope), limitedBody(), jsonBody];
    app.on(method.toUpperCase(), [route], ...before, async (c) =>
      untilRevoked(await handle(c), c.get("caller").isStillValid),
    );
  }
  return app;
}

/** Refuses a body that is not JSON or is nested too deeply. */
const jsonBody: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("Content-Type") ?? "";
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type))
    throw new AppError("unsupported", "Send JSON, with Content-Type: application/json.");
  requireJsonBytes(new Uint8Array(await c.req.arrayBuffer()));
  await next();
};
