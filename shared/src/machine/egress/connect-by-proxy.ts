import { isIP } from "node:net";
import { Readable } from "node:stream";
import { AppError } from "../../core/errors.ts";
import { type Connect, type Resolve, resolveChecked } from "./connect-directly.ts";
import type { EgressPolicy } from "./policy.ts";

/**
 * Makes hops by way of an HTTP proxy. It resolves names itself, so the check here covers what this machine resolves them to; a name that only the
 * proxy knows is left to the proxy's own rules.
 */
export function connectByProxy(deps: {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly proxy: string;
}): Connect {
  return async ({ url, headers, body, signal }) => {
    if (isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0) await resolveChecked(url, deps).catch(unlessUnknown);
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers,
      redirect: "manual",
      decompress: false,
      proxy: deps.proxy,
      signal,
      ...(body !== undefined && { body }),
    });
    const stream = response.body === null ? Readable.from([]) : Readable.from(response.body);
    return { status: response.status, headers: Object.fromEntries(response.headers), stream };
  };
}

function unlessUnknown(error: unknown): void {
  if (!(error instanceof AppError && error.code === "unavailable")) throw error;
}
