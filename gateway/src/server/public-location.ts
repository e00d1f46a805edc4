import type { MiddlewareHandler } from "hono";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";

/**
 * Puts the path of the public address before a `Location` of this server, in answers to requests
 * that came by that address: a proxy removes the path from a request and does not add it to an
 * answer. Callers inside get the path as it is here.
 */
export function publicLocation(publicUrl: string): MiddlewareHandler {
  const { host, pathname } = new URL(publicUrl);
  const path = withoutLastSlashes(pathname);
  return async (c, next) => {
    await next();
    const location = c.res.headers.get("Location");
    if (location?.startsWith("/") && c.req.header("Host") === host) c.res.headers.set("Location", path + location);
  };
}
