import { loopbackNames } from "../../http/loopback-guard.ts";

/** A server of this system: where it is reached from here, and where from outside, if it is. */
export type ServerAddress = { readonly url: string; readonly publicUrl: string | undefined };

/** Where an address is reached from here; the same address when it is no server of this system. */
export type InsideAddress = (url: string) => string;

/**
 * Turns public addresses of this system's own servers into those they are reached at from here, as
 * their cards and links name the public ones: requests and tokens between them need no reverse
 * proxy, and pass none.
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

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}

/**
 * Whether two http(s) addresses are one server: one origin, where this machine's names for its
 * loopback are one name.
 */
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
