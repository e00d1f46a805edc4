import { signal } from "@preact/signals";
import { type Filters, filterNames } from "./runs-query.ts";

const key = "manyhands-views";
/** Views a person may keep. */
const maxViews = 30;

/** A list that a person wants again, by the name they gave it. */
export type SavedView = { readonly name: string; readonly filters: Filters };

/** The person's views, in this browser. A view is an address, which is how others get it. */
export const savedViews = signal<readonly SavedView[]>(read());

/** Keeps a view; one of the same name is replaced. */
export function saveView(view: SavedView): void {
  store([...savedViews.value.filter(({ name }) => name !== view.name), view].slice(-maxViews));
}

/** Forgets a view. */
export function removeView(name: string): void {
  store(savedViews.value.filter((view) => view.name !== name));
}

function store(views: readonly SavedView[]): void {
  savedViews.value = views;
  localStorage.setItem(key, JSON.stringify(views));
}

/**
 * What is stored; entries that are not views, because somebody wrote into the storage, are left
 * out.
 */
function read(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.flatMap(viewOf) : [];
  } catch {
    return [];
  }
}

function viewOf(stored: unknown): SavedView[] {
  const { name, filters = {} } = (stored ?? {}) as { name?: unknown; filters?: Record<string, unknown> };
  if (typeof name !== "string" || name === "") return [];
  const known = filterNames.flatMap((one) => (typeof filters[one] === "string" ? [[one, filters[one]]] : []));
  return [{ name, filters: Object.fromEntries(known) }];
}
