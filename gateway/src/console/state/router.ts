import { signal } from "@preact/signals";
import { percentDecoded } from "manyhands/internal/core/text/percent-decoded";

/**
 * Where the page is. The address after `#` is a path with a query: the API has the same paths
 * without `#`, and a console behind a proxy keeps working under any prefix.
 */
export type PageRoute = { readonly parts: readonly string[]; readonly query: URLSearchParams };

/** The current place; it changes with the address. */
export const place = signal<PageRoute>(readRoute(location.hash));

/** Reads the address after `#`. */
function readRoute(hash: string): PageRoute {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").flatMap((part) => (part === "" ? [] : [percentDecoded(part)]));
  return { parts, query: new URLSearchParams(query) };
}

/** The address of a place: its parts, then what its query holds. */
export function address(
  parts: readonly string[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const set = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  const search = set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
  return `#/${parts.map(encodeURIComponent).join("/")}${search}`;
}

/** Goes to an address. */
export function go(to: string): void {
  location.hash = to;
}

/**
 * Changes the query of the current place and keeps the rest; `undefined` removes a name. It makes
 * no entry in the history unless told so.
 */
export function setQuery(changes: Readonly<Record<string, string | number | undefined>>, push = false): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, String(value));
  }
  const to = address(place.value.parts, Object.fromEntries(query));
  if (push) history.pushState(undefined, "", to);
  else history.replaceState(undefined, "", to);
  place.value = readRoute(to);
}

/** Follows the address from now on. */
export function startRouter(): void {
  addEventListener("hashchange", () => {
    place.value = readRoute(location.hash);
  });
  addEventListener("popstate", () => {
    place.value = readRoute(location.hash);
  });
}
