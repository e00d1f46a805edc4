import { computedReference } from "./formula-dependencies.ts";

/** Texts and quoted names of sheets, in which no cell and no name is meant. */
const quoted = /("(?:[^"]|"")*"|'(?:[^']|'')*'!)/;
const range = /(?<![\w.$])(\$?[A-Z]{1,3})(\$?\d{1,7})?:(\$?[A-Z]{1,3})(\$?\d{1,7})?(?![\w(.!])/gi;
const wholeRows = /(?<![\w.$])\$?\d+:\$?\d+(?![\w(.!])/;
/** What tells how tall a range is, also where nothing stands in it. */
const seesHeight = /\b(?:ROWS?|COUNTBLANK|CELL|TRANSPOSE)\(/i;

/** The formula with this done to its parts outside of quotes. */
export function outsideQuotes(formula: string, done: (part: string) => string): string {
  return formula
    .split(quoted)
    .map((part, at) => (at % 2 === 0 ? done(part) : part))
    .join("");
}

/**
 * A formula whose ranges end with row `last`, below which every sheet is empty: a whole column
 * takes a second to be looked through. Undefined for one that could give something else then, or
 * that may read any number of cells.
 */
export function boundedFormula(formula: string, last: number): string | undefined {
  let [isChanged, isOpen] = [false, false];
  const bounded = outsideQuotes(formula, (part) => {
    isOpen ||= computedReference.test(part) || wholeRows.test(part);
    return part.replaceAll(range, (whole, left: string, top: string | undefined, right: string, bottom?: string) => {
      if ((top === undefined) !== (bottom === undefined)) return whole;
      if (bottom !== undefined && (rowOf(top) > last || rowOf(bottom) <= last)) return whole;
      isChanged = true;
      return `${left}${top ?? "$1"}:${right}$${last}`;
    });
  });
  return isOpen || (isChanged && seesHeight.test(formula)) ? undefined : bounded;
}

function rowOf(row = "1"): number {
  return Number(row.replace("$", ""));
}
