import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { AppError } from "../../core/errors.ts";
import type { EgressPolicy } from "./policy.ts";
import { type Resolve, resolveChecked } from "./resolve.ts";

/** One request to one host. */
export type Hop = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
};

/** The head of a response, and its body as received. */
export type Connected = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Readable;
};

/** Makes one hop. Refuses what violates the policy only once the name is resolved. */
export type Connect = (hop: Hop) => Promise<Connected>;

/**
 * Connects to exactly the addresses that were checked: the name is resolved once, inside the
 * connection's own look-up, so a name that changes its address between check and use gains nothing.
 * Connections are not reused.
 */
export function connectDirectly(deps: { readonly policy: EgressPolicy; readonly resolve: Resolve }): Connect {
  return ({ url, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { request } = url.protocol === "https:" ? https : http;
      const sent = request(
        url,
        {
          method: body === undefined ? "GET" : "POST",
          headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) },
          lookup: checkedLookup(url, deps),
          agent: false,
          signal,
        },
        (response) => resolve({ status: response.statusCode ?? 0, headers: flat(response.headers), stream: response }),
      );
      sent.on("error", reject);
      sent.end(body);
    });
}

function checkedLookup(url: URL, deps: { readonly policy: EgressPolicy; readonly resolve: Resolve }): LookupFunction {
  return (_host, options, done) => {
    resolveChecked(url, deps).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all === true) done(null, found);
        else done(null, found[0]?.address ?? "", found[0]?.family);
      },
      (error: Error) => done(error, ""),
    );
  };
}

function flat(headers: http.IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]));
}

/**
 * Makes hops through an HTTP proxy. The proxy resolves names itself, so the check here covers what
 * this machine resolves them to; a name that only the proxy knows is left to the proxy's own rules.
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
