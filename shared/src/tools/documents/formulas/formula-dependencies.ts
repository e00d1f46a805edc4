import { letterToCol } from "hucre";
import { colToLetter } from "hucre/xlsx";

/**
 * The formulas of a workbook: by sheet in small letters and cell (`a1` is `A1`), without their `=`.
 */
export type PlacedFormula = {
  readonly sheet: string;
  readonly column: number;
  readonly row: number;
  readonly formula: string;
};

/** More comparisons of a range with the cells of formulas are not made: then nothing is found. */
const maxComparisons = 20_000_000;

/**
 * The cells of formulas that depend on themselves, in the order of dependence, the first again at
 * the end; undefined if there are none. What INDIRECT and OFFSET compute is not seen.
 */
export function circleIn(formulas: readonly PlacedFormula[]): readonly string[] | undefined {
  const at = new Map(formulas.map((one) => [keyOf(one.sheet, one.column, one.row), one]));
  const bySheet = Map.groupBy(formulas, ({ sheet }) => sheet.toLowerCase());
  let comparisons = 0;
  const neededBy = (one: PlacedFormula): PlacedFormula[] =>
    rangesIn(one).flatMap((range) => {
      if (range.left === range.right && range.top === range.bottom)
        return at.get(keyOf(range.sheet, range.left, range.top)) ?? [];
      const inSheet = bySheet.get(range.sheet.toLowerCase()) ?? [];
      comparisons += inSheet.length;
      return comparisons > maxComparisons ? [] : inSheet.filter((other) => covers(range, other));
    });
  const ended = new Set<PlacedFormula>();
  for (const start of formulas) {
    const path: { readonly one: PlacedFormula; readonly needs: PlacedFormula[] }[] = [];
    const onPath = new Set<PlacedFormula>();
    const enter = (one: PlacedFormula) => {
      path.push({ one, needs: neededBy(one) });
      onPath.add(one);
    };
    if (!ended.has(start)) enter(start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.needs.pop();
      if (next === undefined) {
        ended.add(last.one);
        onPath.delete(last.one);
        path.pop();
      } else if (onPath.has(next)) {
        const from = path.findIndex(({ one }) => one === next);
        return [...path.slice(from).map(({ one }) => one), next].map(nameOf);
      } else if (!ended.has(next)) enter(next);
    }
  }
  return undefined;
}

/** The formulas whose results no other formula reads: what the sheets come to. */
export function lastFormulas(formulas: readonly PlacedFormula[]): readonly PlacedFormula[] {
  const at = new Map(formulas.map((one) => [keyOf(one.sheet, one.column, one.row), one]));
  const ranges = new Map(formulas.flatMap(rangesIn).map((range) => [JSON.stringify(range), range]));
  const last = new Set(formulas);
  let comparisons = 0;
  for (const range of ranges.values()) {
    if (range.left === range.right && range.top === range.bottom) {
      const one = at.get(keyOf(range.sheet, range.left, range.top));
      if (one !== undefined) last.delete(one);
      continue;
    }
    comparisons += last.size;
    if (comparisons > maxComparisons) return [];
    const sheet = range.sheet.toLowerCase();
    for (const one of last) if (one.sheet.toLowerCase() === sheet && covers(range, one)) last.delete(one);
  }
  return [...last];
}

/** What reads cells that are named only while it is computed. */
export const computedReference = /\b(?:INDIRECT|OFFSET)\(/i;

/**
 * These formulas and all that read them, one after the other; all of them if that takes too long to
 * find out.
 */
export function readersOf(
  some: ReadonlySet<PlacedFormula>,
  formulas: readonly PlacedFormula[],
): ReadonlySet<PlacedFormula> {
  const found = new Set(some);
  if (found.size === 0) return found;
  for (const one of formulas) if (computedReference.test(one.formula)) found.add(one);
  const left = new Map(formulas.map((one) => [one, rangesIn(one)]));
  let comparisons = 0;
  for (const read of found) {
    left.delete(read);
    for (const [one, ranges] of left) {
      comparisons += ranges.length;
      if (ranges.some((range) => isSheet(range, read) && covers(range, read))) found.add(one);
    }
    if (comparisons > maxComparisons) return new Set(formulas);
  }
  return found;
}

/**
 * How many cells the formulas read, a cell once for each that reads it; `rows` are those of each
 * sheet that are used, by its name in small letters.
 */
export function areaRead(formulas: readonly PlacedFormula[], rows: ReadonlyMap<string, number>): number {
  const areas = formulas.flatMap(rangesIn).map(({ sheet, left, right, top, bottom }) => {
    const last = Math.min(bottom, rows.get(sheet.toLowerCase()) ?? 0);
    return (right - left + 1) * Math.max(1, last - top + 1);
  });
  return areas.reduce((sum, area) => sum + area, 0);
}

type Range = {
  readonly sheet: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

const reference =
  /(?:(?:'((?:[^']|'')+)'|([A-Za-z_][\w.]*))!)?(?<![\w.$])\$?([A-Z]{1,3})(?:\$?(\d{1,7}))?(?::\$?([A-Z]{1,3})(?:\$?(\d{1,7}))?)?(?![\w(.!])/gi;
/** Texts, and references that are counted, not read. */
const unread = /"(?:[^"]|"")*"|\b(?:ROWS?|COLUMNS?)\([^()]*\)/gi;

function rangesIn({ sheet, formula }: PlacedFormula): Range[] {
  return [...formula.replaceAll(unread, '""').matchAll(reference)].flatMap(
    ([, quoted, plain, first = "", top, last, bottom]) => {
      // A name without a number is a column only in a range of columns.
      if ((top === undefined) !== (bottom === undefined) ? last !== undefined : top === undefined && last === undefined)
        return [];
      const [left, right] = ordered(letterToCol(first) + 1, letterToCol(last ?? first) + 1);
      const [from, to] = top === undefined ? [1, Infinity] : ordered(Number(top), Number(bottom ?? top));
      return [{ sheet: quoted?.replaceAll("''", "'") ?? plain ?? sheet, left, right, top: from, bottom: to }];
    },
  );
}

function covers({ left, right, top, bottom }: Range, { column, row }: PlacedFormula): boolean {
  return column >= left && column <= right && row >= top && row <= bottom;
}

function isSheet(one: Pick<Range, "sheet">, other: Pick<PlacedFormula, "sheet">): boolean {
  return one.sheet.toLowerCase() === other.sheet.toLowerCase();
}

function ordered(one: number, other: number): readonly [number, number] {
  return one <= other ? [one, other] : [other, one];
}

function keyOf(sheet: string, column: number, row: number): string {
  return `${sheet.toLowerCase()}!${column},${row}`;
}

/** A formula's cell, such as `Costs!B4`. */
export function nameOf({ sheet, column, row }: PlacedFormula): string {
  return `${sheet}!${colToLetter(column - 1)}${row}`;
}
