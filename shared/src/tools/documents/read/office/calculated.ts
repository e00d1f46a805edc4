import { isDateFormat, serialToDate } from "hucre";
import { type Cell, type CellValue, readXlsx, type Sheet, type Workbook, type WriteSheet } from "hucre/xlsx";
import { boundedFormula } from "../../formulas/bounded-formula.ts";
import { computedFormulas } from "../../formulas/computed-formulas.ts";
import type { PlacedFormula } from "../../formulas/formula-dependencies.ts";
import { namedIn } from "./named-cells.ts";
import { cellRange } from "./sheet-choice.ts";
import { isUncalculated } from "./uncalculated.ts";

/** Stands for a formula that cannot be computed here, so that none which reads it is. */
const unknown = "UNKNOWN()";
/** Of an array over more cells nothing is computed. */
const maxArray = 10_000;

/** A formula, and the number format of its cell. */
type ReadFormula = PlacedFormula & { readonly format: string | undefined };

/**
 * What the formulas give of which a workbook stores no value, as programs that only write formulas
 * leave them, by `sheet!row,column` counted from 0. Those that cannot be computed here for certain
 * are left out; of a workbook too large to be computed in seconds, all.
 */
export async function calculated(content: Uint8Array, book?: Workbook): Promise<ReadonlyMap<string, CellValue>> {
  const values = new Map<string, CellValue>();
  const lacks = ({ cells }: Sheet) => [...(cells?.values() ?? [])].some(isUncalculated);
  if (!(book ?? (await readXlsx(content))).sheets.some(lacks)) return values;
  const { sheets, dateSystem, namedRanges = [] } = await readXlsx(content, { readStyles: true });
  // Its days are counted from another one.
  if (dateSystem === "1904") return values;
  const named = namedIn(namedRanges);
  // One more, so that a range which is cut is as tall as none that is not.
  const last = sheets.reduce((most, sheet) => Math.max(most, heightOf(sheet)), 0) + 1;
  const asEntered = (formula: string, sheet: string) => boundedFormula(named.written(formula, sheet), last) ?? unknown;
  const formulas = sheets.flatMap((sheet) => formulasOf(sheet, asEntered));
  const computed = await computedFormulas(entered(sheets, formulas), formulas, named.others);
  for (const { sheet, row, column, format } of formulas) {
    const key = `${sheet}!${row - 1},${column - 1}`;
    const result = computed.get(key);
    // In a range that was cut, a row behind its end would be empty.
    if (result === undefined || ("error" in result && result.error === "#REF!")) continue;
    values.set(key, "error" in result ? result.error : shownAs(result.value, format));
  }
  return values;
}

function shownAs(value: string | number | boolean, format: string | undefined): CellValue {
  return typeof value === "number" && format !== undefined && isDateFormat(format) ? serialToDate(value) : value;
}

function heightOf({ rows, cells }: Sheet): number {
  return [...(cells?.keys() ?? [])].reduce((most, key) => Math.max(most, Number.parseInt(key, 10) + 1), rows.length);
}

/** The formulas of a sheet without a value, with what their names stand for. */
function formulasOf(sheet: Sheet, written: (formula: string, sheet: string) => string): ReadFormula[] {
  const found = new Map<string, ReadFormula>();
  const add = (row: number, column: number, formula: string, { style }: Partial<Cell>) =>
    found.set(`${row},${column}`, {
      ...{ sheet: sheet.name, row: row + 1, column: column + 1, formula },
      format: style?.numFmt,
    });
  for (const [key, cell] of sheet.cells ?? []) {
    const [row = 0, column = 0] = key.split(",").map(Number);
    if (isUncalculated(cell) && !found.has(key)) add(row, column, written(cell.formula ?? "", sheet.name), cell);
    // A part of one that stands in another cell.
    else if (cell.type === "formula" && cell.formula === undefined && cell.value === null)
      add(row, column, unknown, cell);
    if (isUncalculated(cell) && cell.formulaRef !== undefined) addArray(cell.formulaRef, add);
  }
  return [...found.values()];
}

/** An array over several cells, whose values do not stand in the cell of their formula alone. */
function addArray(ref: string, add: (row: number, column: number, formula: string, cell: Partial<Cell>) => void): void {
  const { left, right, top, bottom } = cellRange(ref) ?? { left: 0, right: 0, top: 0, bottom: 0 };
  const cells = (right - left + 1) * (bottom - top + 1);
  if (cells === 1) return;
  for (let at = 0; at < Math.min(cells, maxArray); at++)
    add(top + Math.floor(at / (right - left + 1)), left + (at % (right - left + 1)), unknown, {});
}

/** The sheets with the formulas that are to be computed, and all other cells as they are stored. */
function entered(sheets: readonly Sheet[], formulas: readonly ReadFormula[]): WriteSheet[] {
  const bySheet = Map.groupBy(formulas, ({ sheet }) => sheet);
  return sheets.map(({ name, rows, cells }) => {
    const errors = [...(cells ?? [])].flatMap(([key, { type }]) =>
      type === "error" ? [[key, { type }] as const] : [],
    );
    const own = (bySheet.get(name) ?? []).map(
      ({ row, column, formula }) => [`${row - 1},${column - 1}`, { formula }] as const,
    );
    const height = Math.max(rows.length, ...(bySheet.get(name) ?? []).map(({ row }) => row));
    const all = Array.from({ length: height }, (_, at): CellValue[] => [...(rows[at] ?? [])]);
    for (const { row, column } of bySheet.get(name) ?? [])
      while ((all[row - 1]?.length ?? column) < column) all[row - 1]?.push(null);
    return { name, rows: all, cells: new Map<string, Partial<Cell>>([...errors, ...own]) };
  });
}
