import type { JournalRow } from "./run-store.ts";

/**
 * What was emitted at one place: the types not emitted again yet, and how many rows belong to the
 * place itself.
 */
type TypeCount = { readonly types: string[]; own: number };

/**
 * The events that a run emitted before, each at its place: after the operation before it in its
 * scope. Events are not compared in a replay, so code that emits more, fewer or other events
 * continues, and their rows are not numbered as operations. Rows of older versions are, and are
 * skipped when operations are counted.
 */
export class EmittedEvents {
  readonly #places = new Map<string, TypeCount>();
  readonly #numbered = new Set<string>();

  /**
   * Takes all rows of a journal, since an older emit's place follows from the operations around it.
   */
  constructor(rows: readonly JournalRow[]) {
    const last = new Map<string, string>();
    for (const { path, kind, name } of rows.toSorted((a, b) => numberOf(a.path) - numberOf(b.path))) {
      const scope = scopeOf(path);
      if (kind !== "emit") last.set(scope, path);
      else if (isOwn(path)) this.#add(path.slice(0, path.lastIndexOf(".")), name).own++;
      else {
        this.#numbered.add(path);
        this.#add(last.get(scope) ?? placeBefore(scope), name);
      }
    }
  }

  /** Whether an older version gave this number to an event; called once per number. */
  passes(path: string): boolean {
    return this.#numbered.delete(path);
  }

  /** Whether an event of this type, not emitted again yet, was emitted at this place. */
  take(place: string, type: string): boolean {
    const types = this.#places.get(place)?.types ?? [];
    const index = types.indexOf(type);
    if (index >= 0) types.splice(index, 1);
    return index >= 0;
  }

  /** The path of the next row there, if `more` rows were added since the journal was read. */
  next(place: string, more: number): string {
    return `${place}.${(this.#places.get(place)?.own ?? 0) + more}`;
  }

  #add(path: string, type: string): TypeCount {
    const place = this.#places.get(path) ?? { types: [], own: 0 };
    this.#places.set(path, place);
    place.types.push(type);
    return place;
  }
}

/** The place of the events a scope emits before its first operation. */
export function placeBefore(scope: string): string {
  return `${scope}-`;
}

/** "4/0/" of "4/0/2". */
function scopeOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** Sorts operations within their scope; an event with its own row sorts with its place. */
function numberOf(path: string): number {
  const end = path.slice(scopeOf(path).length);
  return Number(isOwn(path) ? end.slice(end.lastIndexOf(".") + 1) : end);
}

function isOwn(path: string): boolean {
  return path.includes(".");
}
