import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { AppError } from "../core/errors.ts";

/** The names of this machine's loopback in addresses. */
export const loopbackNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a listen address is reachable only from this machine. The only such name is `localhost`.
 */
export function isLoopback(hostname: string): boolean {
  if (isIP(hostname) === 4) return hostname.startsWith("127.");
  return hostname === "::1" || loopbackNames.has(hostname);
}

/**
 * For a server on loopback: refuses a request whose Host is not this machine or whose Origin is
 * another site, since a web page can point its own name at 127.0.0.1 (DNS rebinding) and have the
 * browser send requests. Pages of the sites in `cors` are answered.
 */
export function loopbackGuard(publicUrl: string, cors: readonly string[] = []): MiddlewareHandler {
  const own = new URL(publicUrl);
  /** The Host that most requests have, once one has been let pass. */
  let usual: string | undefined;
  return (c, next) => {
    const host = c.req.header("Host");
    const origin = c.req.header("Origin");
    if (host !== undefined && host === usual && origin === undefined) return next();
    const name = host === undefined ? undefined : hostName(host);
    if (name === undefined || !(loopbackNames.has(name) || name === own.hostname)) {
      throw new AppError(
        "forbidden",
        "This server answers only to its own name. If it has another one too, set `public_url` to that address.",
      );
    }
    const same = [`http://${host}`, `https://${host}`, ...cors];
    if (origin !== undefined && origin !== own.origin && !same.includes(origin)) {
      throw new AppError(
        "forbidden",
        "This server does not answer pages of other sites, except those that `[server] cors` lists.",
      );
    }
    usual = host;
    return next();
  };
}

function hostName(host: string): string | undefined {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
