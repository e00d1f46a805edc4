import type { NamedRange } from "hucre";
import { outsideQuotes } from "../../formulas/bounded-formula.ts";

/** A name for cells of which no part is relative to the cell that says it. */
const absolute = /^(?:'(?:[^']|'')+'|[\w.]+)!\$[A-Z]{1,3}\$\d{1,7}(?::\$[A-Z]{1,3}\$\d{1,7})?$/i;
const amount = /^-?\d+(?:\.\d+)?$/;

/** What the names of a workbook stand for. */
export type Named = {
  /** A formula of a sheet with the cells or the number that each of its names stands for. */
  written(formula: string, sheet: string): string;
  /** Names that stand for something else. */
  readonly others: readonly string[];
};

/** Reads the names of a workbook. */
export function namedIn(ranges: readonly NamedRange[]): Named {
  const known = ranges.filter(({ range }) => absolute.test(range) || amount.test(range));
  const others = ranges.filter((one) => !known.includes(one)).map(({ name }) => name);
  return {
    others,
    written(formula, sheet) {
      const own = known.filter(({ scope }) => scope === undefined || scope === sheet);
      // Those of the sheet itself come first.
      const standsFor = new Map(
        own
          .toSorted((one, other) => Number(one.scope !== undefined) - Number(other.scope !== undefined))
          .map(({ name, range }) => [name.toLowerCase(), range]),
      );
      const replaced = (part: string) =>
        part.replaceAll(/(?<![\w.!$\\])[A-Za-z_\\][\w.\\]*(?![\w.(!\\])/g, (word) => {
          const range = standsFor.get(word.toLowerCase());
          return range === undefined ? word : `(${range})`;
        });
      return outsideQuotes(formula, replaced);
    },
  };
}
