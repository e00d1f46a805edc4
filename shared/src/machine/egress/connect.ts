import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { AppError } from "../../core/errors.ts";
import type { EgressPolicy } from "./policy.ts";
import { type Resolve, resolveChecked } from "./resolve.ts";

/** One request to one host. */
export type Hop = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
};

/**
 * How to recognise servers with certificates of an authority that only this system trusts, and what
 * to show them. Undefined for servers that others run, which are recognised as usual.
 */
export type OwnTls = (url: URL) => Promise<TlsOfServer | undefined>;

/** In PEM form. `names` are those its certificate may be for, besides the host of its address. */
export type TlsOfServer = {
  readonly ca?: readonly string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly names: readonly string[];
};

/** The head of a response, and its body as received. */
export type RelayedResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Readable;
};

/** Makes one hop. Refuses what violates the policy only once the name is resolved. */
export type Connect = (hop: Hop) => Promise<RelayedResponse>;

/**
 * Connects to exactly the addresses that were checked: the name is resolved once, inside the
 * connection's own look-up, so a name that changes its address between check and use gains nothing.
 * Connections are not reused.
 */
export function connectDirectly(deps: ConnectDeps): Connect {
  return async ({ url, headers, body, signal }) => {
    const tls = await tlsFor(url, deps);
    return new Promise((resolve, reject) => {
      const { request } = url.protocol === "https:" ? https : http;
      const sent = request(
        url,
        {
          method: body === undefined ? "GET" : "POST",
          headers: { ...headers, ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }) },
          lookup: checkedLookup(url, deps),
          agent: false,
          signal,
          ...tls,
        },
        (response) => resolve({ status: response.statusCode ?? 0, headers: flat(response.headers), stream: response }),
      );
      sent.on("error", reject);
      sent.end(body);
    });
  };
}

type ConnectDeps = { readonly policy: EgressPolicy; readonly resolve: Resolve; readonly tls?: OwnTls | undefined };

async function tlsFor(url: URL, { tls }: Pick<ConnectDeps, "tls">) {
  const own = url.protocol === "https:" ? await tls?.(url) : undefined;
  if (own === undefined) return {};
  const { names, ca, cert, key } = own;
  return {
    ...(ca && { ca: [...ca] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    checkServerIdentity: (host: string, certificate: PeerCertificate) => {
      const faults = [host, ...names].map((name) => checkServerIdentity(name, certificate));
      return faults.includes(undefined) ? undefined : faults[0];
    },
  };
}

function checkedLookup(url: URL, deps: ConnectDeps): LookupFunction {
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
export function connectByProxy(deps: ConnectDeps & { readonly proxy: string }): Connect {
  return async ({ url, headers, body, signal }) => {
    if (isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0) await resolveChecked(url, deps).catch(unlessUnknown);
    const tls = await tlsFor(url, deps);
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers,
      redirect: "manual",
      decompress: false,
      proxy: deps.proxy,
      signal,
      tls,
      ...(body !== undefined && { body }),
    });
    const stream = response.body === null ? Readable.from([]) : Readable.from(response.body);
    return { status: response.status, headers: joined(response.headers), stream };
  };
}

/** Cookies are the one header that `fetch` does not join itself. */
function joined(headers: Headers): Record<string, string> {
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(headers), ...(cookies.length > 0 && { "set-cookie": cookies.join(", ") }) };
}

function unlessUnknown(error: unknown): void {
  if (!(error instanceof AppError && error.code === "unavailable")) throw error;
}
