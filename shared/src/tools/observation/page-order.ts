import type { OutlineLine } from "./lines.ts";

/** A line that a conversation knows, and the line it belongs to. */
export type PlacedLine = { readonly text: string; readonly parent: string };

/**
 * Entries whose order differs from the known one: their lines in the new order, and the parent's.
 */
export type Reordered = { readonly parent: number; readonly at: readonly number[] };

/**
 * Where known lines stand in another order, or elsewhere, than in `before`: a single one that moved
 * with those beside it. `known` are the numbers of lines that the conversation has with this look;
 * `key` is a line without what may change.
 */
export function reordered(
  lines: readonly OutlineLine[],
  known: ReadonlySet<number>,
  before: readonly PlacedLine[],
  key: (text: string) => string,
): readonly Reordered[] {
  const groups = Map.groupBy(known, (at) => lines[at]?.parent ?? -1);
  const texts = [...known].map((at) => key(lines[at]?.text ?? ""));
  const places = placesOf(before, once(texts), key);
  const placeOf = (at: number) => places.get(key(lines[at]?.text ?? ""));
  const successors = successorsOf(lines, groups, placeOf);
  return [...groups].flatMap(([parent, members]) => {
    const group = members.toSorted((a, b) => a - b);
    const placed = group.flatMap((at) => {
      const place = placeOf(at);
      return place === undefined ? [] : [{ at, place }];
    });
    const isHere = placed.every(({ place }) => successors.get(place.parent) === parent);
    const lone = isHere ? loneMover(placed.map(({ place }) => place.order)) : undefined;
    if (lone !== undefined) return [{ parent, at: between(group, placed[lone]?.at ?? 0, placed[lone]?.at ?? 0) }];
    const sorted = placed.toSorted((one, other) => one.place.order - other.place.order);
    const isElsewhere = (index: number) =>
      placed[index]?.at !== sorted[index]?.at || successors.get(placed[index]?.place.parent ?? "") !== parent;
    const from = placed.findIndex((_, index) => isElsewhere(index));
    if (from === -1) return [];
    const to = placed.findLastIndex((_, index) => isElsewhere(index));
    return [{ parent, at: between(group, placed[from]?.at ?? 0, placed[to]?.at ?? 0) }];
  });
}

/** The only entry that stands elsewhere: without it the others stand as they did. */
function loneMover(orders: readonly number[]): number | undefined {
  const down = orders.findIndex((order, at) => order > (orders[at + 1] ?? Number.POSITIVE_INFINITY));
  if (down === -1) return undefined;
  const isSorted = (without: number) => {
    const rest = orders.toSpliced(without, 1);
    return rest.every((order, at) => order < (rest[at + 1] ?? Number.POSITIVE_INFINITY));
  };
  return [down, down + 1].find(isSorted);
}

/** The lines of a look that a conversation knows, in the order of the page. */
export function placedLines(lines: readonly OutlineLine[], known: Iterable<number>): PlacedLine[] {
  return [...known]
    .toSorted((a, b) => a - b)
    .flatMap((at) => {
      const line = lines[at];
      return line === undefined ? [] : [{ text: line.text, parent: keyOfParent(lines[line.parent]?.text ?? "") }];
    });
}

/**
 * The line that each former parent is now: the one with its ref, or else the one that has most of
 * what it had, since a part whose content changes may get another ref.
 */
function successorsOf(
  lines: readonly OutlineLine[],
  groups: ReadonlyMap<number, readonly number[]>,
  placeOf: (at: number) => Place | undefined,
): ReadonlyMap<string, number> {
  const byKey = new Map([...groups.keys()].map((parent) => [keyOfParent(lines[parent]?.text ?? ""), parent]));
  const successors = new Map<string, { readonly parent: number; readonly count: number }>();
  for (const [parent, members] of groups) {
    const former = Map.groupBy(members, (at) => placeOf(at)?.parent);
    for (const [key, { length: count }] of former)
      if (key !== undefined && count > (successors.get(key)?.count ?? 0)) successors.set(key, { parent, count });
  }
  return new Map([...successors].map(([key, { parent }]) => [key, byKey.get(key) ?? parent]));
}

type Place = { readonly order: number; readonly parent: string };

/**
 * Where lines were whose text was there once and is so now: of others it is not known which is
 * which.
 */
function placesOf(
  before: readonly PlacedLine[],
  now: ReadonlySet<string>,
  key: (text: string) => string,
): ReadonlyMap<string, Place> {
  const single = once(before.map(({ text }) => key(text)));
  return new Map(
    before.flatMap(({ text, parent }, order) => {
      const known = key(text);
      return single.has(known) && now.has(known) ? [[known, { order, parent }] as const] : [];
    }),
  );
}

function once(texts: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return new Set([...counts].flatMap(([text, count]) => (count === 1 ? [text] : [])));
}

/** What a line is found again by as a parent: its ref, or else its text. */
function keyOfParent(text: string): string {
  return /\[(e\d+)\]/.exec(text)?.[1] ?? text;
}

/** From one line to another, with those beside them. */
function between(group: readonly number[], first: number, last: number): readonly number[] {
  return group.slice(Math.max(0, group.indexOf(first) - 1), group.indexOf(last) + 2);
}
