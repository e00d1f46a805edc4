import { diffArrays } from "diff";

/** What stands on the same line: of both sides, or of one. */
export type Pair<Item> = { readonly a?: Item; readonly b?: Item };

/** Milliseconds for which the best alignment is looked for; then things stand as they come. */
const withinMs = 500;

/**
 * Two lists side by side, each in its order: things of the same `key` on one line where possible,
 * then those of the same `kind` between them.
 */
export function align<Item>(
  a: readonly Item[],
  b: readonly Item[],
  { key, kind }: { key(item: Item): string; kind(item: Item): string },
): readonly Pair<Item>[] {
  return aligned(a, b, key, (some, others) => aligned(some, others, kind, oneSided));
}

/** Lines up what has the same name; what lies between two such lines is left to `between`. */
function aligned<Item>(
  a: readonly Item[],
  b: readonly Item[],
  nameOf: (item: Item) => string,
  between: (a: readonly Item[], b: readonly Item[]) => readonly Pair<Item>[],
): readonly Pair<Item>[] {
  const changes = diffArrays(a.map(nameOf), b.map(nameOf), { timeout: withinMs });
  // It says nothing if it took too long.
  if (changes === undefined) return Array.from({ length: Math.max(a.length, b.length) }, (_, n) => pair(a[n], b[n]));
  const pairs: Pair<Item>[] = [];
  let [atA, atB] = [0, 0];
  let [fromA, fromB] = [0, 0];
  const flush = () => {
    pairs.push(...between(a.slice(fromA, atA), b.slice(fromB, atB)));
    [fromA, fromB] = [atA, atB];
  };
  for (const { added, removed, value } of changes) {
    if (removed) atA += value.length;
    else if (added) atB += value.length;
    else {
      flush();
      for (let n = 0; n < value.length; n++) pairs.push(pair(a[atA++], b[atB++]));
      [fromA, fromB] = [atA, atB];
    }
  }
  flush();
  return pairs;
}

function oneSided<Item>(a: readonly Item[], b: readonly Item[]): readonly Pair<Item>[] {
  return [...a.map((item) => pair<Item>(item, undefined)), ...b.map((item) => pair<Item>(undefined, item))];
}

function pair<Item>(a: Item | undefined, b: Item | undefined): Pair<Item> {
  return { ...(a !== undefined && { a }), ...(b !== undefined && { b }) };
}
