import { sanitizeLine } from "../../core/text/sanitize.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import { loopbackNames } from "../../http/loopback-guard.ts";

/** A server of this system: its address from here and, if it has one, from outside. */
export type ServerAddress = { readonly url: string; readonly publicUrl: string | undefined };

/** Maps an address to the one it is reached at from here; other systems' addresses stay. */
export type InsideAddress = (url: string) => string;

/**
 * Maps the public addresses of this system's servers, which their cards and links name, to those
 * reached from here: requests and tokens between them bypass the reverse proxy.
 */
export function insideAddress(places: readonly ServerAddress[]): InsideAddress {
  const known = places
    .flatMap(({ url, publicUrl }) => (publicUrl === undefined ? [] : [{ outside: new URL(publicUrl), url }]))
    .toSorted((one, other) => other.outside.pathname.length - one.outside.pathname.length);
  return (address) => {
    const asked = URL.parse(address);
    for (const { outside, url } of asked === null ? [] : known) {
      const base = withoutSlash(outside.pathname);
      if (asked?.origin !== outside.origin || !`${asked.pathname}/`.startsWith(`${base}/`)) continue;
      return `${withoutSlash(url)}${asked.pathname.slice(base.length)}${asked.search}`;
    }
    return address;
  };
}

/**
 * What errors call an agent: the caller's name for it, if there is one, and its address, without
 * the secrets that may be in it.
 */
export function agentAt(address: string, called?: string): string {
  const url = URL.parse(address);
  const name = called === undefined || URL.canParse(called) ? "The agent" : sanitizeLine(called, 60);
  if (url === null) return name;
  return `${name} at ${url.origin}${withoutSlash(url.pathname.replace(/\/\.well-known\/.*$/, ""))}`;
}

function withoutSlash(path: string): string {
  return withoutLastSlashes(path);
}

/** Whether two http(s) addresses have the same origin; all names of the loopback are the same. */
export function isSameServer(one: string | URL, other: string | URL): boolean {
  const server = serverOf(one);
  return server !== undefined && server === serverOf(other);
}

function serverOf(address: string | URL): string | undefined {
  const url = URL.parse(String(address));
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return undefined;
  if (loopbackNames.has(url.hostname)) url.hostname = "localhost";
  return url.origin;
}
