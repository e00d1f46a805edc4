import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { AppError } from "../core/errors.ts";

/** What this machine calls its loopback in an address. */
export const loopbackNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether an address to listen on is reachable from this machine only. Of names only `localhost`
 * is.
 */
export function isLoopback(hostname: string): boolean {
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "::1" || loopbackNames.has(hostname);
}

/**
 * For a server that only this machine can reach: refuses a request whose Host is not this machine,
 * or whose Origin is another site, since a web page can point its own name at 127.0.0.1 and have a
 * browser send the request.
 */
export function loopbackGuard(publicUrl: string): MiddlewareHandler {
  const own = new URL(publicUrl);
  return async (c, next) => {
    const host = c.req.header("Host");
    const origin = c.req.header("Origin");
    const name = host === undefined ? undefined : hostName(host);
    if (name === undefined || !(loopbackNames.has(name) || name === own.hostname)) {
      throw new AppError("forbidden", "This server answers only to its own name");
    }
    if (origin !== undefined && origin !== own.origin && origin !== `http://${host}`) {
      throw new AppError("forbidden", "This server does not answer pages of other sites");
    }
    await next();
  };
}

function hostName(host: string): string | undefined {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
