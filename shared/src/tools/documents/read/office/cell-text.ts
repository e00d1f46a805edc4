import type { Cell, CellValue } from "hucre/xlsx";

const longest = 1000;

/**
 * What a cell shows, with its formula and its comment. A formula alone has no stored value, one
 * after `""` has an empty text.
 */
export function cellText(value: CellValue, cell?: Cell): string {
  const stored = cell?.formulaResult ?? value;
  const shown = cell?.formula !== undefined && stored === "" ? '""' : valueText(stored);
  const formula = cell?.formula === undefined ? "" : `(=${cell.formula.replace(/^=/, "")})`;
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
