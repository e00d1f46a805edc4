import type { Cell, CellValue } from "hucre/xlsx";
import { isUncalculated } from "./uncalculated.ts";

const longest = 1000;

/** What a cell shows, with its formula and its comment. */
export function cellText(value: CellValue, cell?: Cell): string {
  const shown = valueText(cell?.formulaResult ?? value);
  const uncalculated = cell !== undefined && isUncalculated(cell) ? "; not calculated" : "";
  const formula = cell?.formula === undefined ? "" : `(=${cell.formula.replace(/^=/, "")}${uncalculated})`;
  const comment = cell?.comment === undefined ? "" : `[comment: ${cell.comment.text.trim()}]`;
  const text = [shown, formula, comment].filter((part) => part !== "").join(" ");
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}

function valueText(value: CellValue): string {
  if (value === null) return "";
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return "(no date)";
  return value
    .toISOString()
    .replace("T", " ")
    .replace(/(?: 00:00:00)?\.000Z$/, "");
}
