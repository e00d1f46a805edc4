import type { Fetch } from "../a2a/client-fetch.ts";

/** A server of this system: where it is reached from here, and where from outside, if it is. */
export type Place = { readonly url: string; readonly publicUrl: string | undefined };

/**
 * A fetch that reaches this system's own servers from inside, whatever address their cards and links say: requests and tokens between them need no
 * reverse proxy, and pass none. All else goes where it says.
 */
export function insideFetch(places: readonly Place[]): Fetch {
  const known = places
    .flatMap(({ url, publicUrl }) => (publicUrl === undefined ? [] : [{ outside: new URL(publicUrl), url }]))
    .toSorted((one, other) => other.outside.pathname.length - one.outside.pathname.length);
  return (input, init) => {
    const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
    for (const { outside, url } of known) {
      const base = withoutSlash(outside.pathname);
      if (origin !== outside.origin || !`${pathname}/`.startsWith(`${base}/`)) continue;
      const inside = `${withoutSlash(url)}${pathname.slice(base.length)}${search}`;
      return fetch(input instanceof Request ? new Request(inside, input) : inside, init);
    }
    return fetch(input, init);
  };
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}
