import { parseCellRef } from "hucre/xlsx";
import { AppError } from "../../../../core/errors.ts";
import { sanitizeLine } from "../../../../core/text/sanitize.ts";

/** Rows and columns, counted from 0, all included. */
export type CellRange = {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

/** The sheets from `from` to `to`, counted from 0, and what to read of each. */
export type SheetChoice = { readonly from: number; readonly to: number; readonly range: CellRange };

/** Excel allows 31. */
const longestName = 40;

const everything: CellRange = { left: 0, right: 16_383, top: 0, bottom: 1_048_575 };

/**
 * The cells that a part names: `Sales`, `#2` (the second sheet), `#2-` (and those after it), each
 * with or without `!A1:F40`, or `A1:F40` alone for the first sheet. Throws `invalid_input`.
 */
export function sheetChoice(part: string | undefined, names: readonly string[]): SheetChoice {
  const last = names.length - 1;
  if (part === undefined || part.trim() === "") return { from: 0, to: last, range: everything };
  const mark = part.lastIndexOf("!");
  const [sheet, cells] = mark < 0 ? [part.trim(), ""] : [part.slice(0, mark).trim(), part.slice(mark + 1).trim()];
  const alone = mark < 0 && !names.includes(sheet) ? cellRange(sheet) : undefined;
  if (alone !== undefined) return { from: 0, to: 0, range: alone };
  const [, number, rest] = /^#(\d{1,6})(-?)$/.exec(sheet) ?? [];
  const named = names.indexOf(sheet.replace(/^'(.*)'$/, "$1"));
  const at = number === undefined || named >= 0 ? named : Number(number) - 1;
  if (at < 0 || at > last) {
    const some = names
      .slice(0, 30)
      .map((name, index) => `#${index + 1} ${JSON.stringify(sanitizeLine(name, longestName))}`);
    throw new AppError(
      "invalid_input",
      `There is no sheet ${JSON.stringify(sanitizeLine(sheet, longestName))}; there are ${some.join(", ")}.`,
    );
  }
  const range = cells === "" ? everything : cellRange(cells);
  if (range === undefined)
    throw new AppError("invalid_input", `${JSON.stringify(cells)} is not a range of cells such as A1:F40.`);
  return { from: at, to: rest === "-" ? last : at, range };
}

/** The cells of `A1` or `A1:F40`, with or without `$`; undefined for anything else. */
export function cellRange(text: string): CellRange | undefined {
  const found = /^\$?([A-Z]{1,3})\$?([1-9]\d{0,6})(?::\$?([A-Z]{1,3})\$?([1-9]\d{0,6}))?$/i.exec(text);
  if (found === null) return undefined;
  const [, left = "", top = "", right = left, bottom = top] = found;
  const [one, other] = [parseCellRef(`${left}${top}`.toUpperCase()), parseCellRef(`${right}${bottom}`.toUpperCase())];
  return {
    left: Math.min(one.col, other.col),
    right: Math.max(one.col, other.col),
    top: Math.min(one.row, other.row),
    bottom: Math.max(one.row, other.row),
  };
}
