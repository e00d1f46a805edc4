import { type CellValue, colToLetter, type WriteSheet } from "hucre/xlsx";
import { AppError } from "../../../../core/errors.ts";
import { type CellRange, cellRange } from "../../read/office/sheet-choice.ts";

/** Cells of one column or one row of a sheet. */
export type ChartRange = {
  /** As the model wrote it. */
  readonly text: string;
  readonly sheet: WriteSheet;
  readonly cells: CellRange;
  readonly isRow: boolean;
};

/** What a cell holds; undefined for a formula's that is not known. */
export type ChartValue = CellValue | undefined;

/**
 * The cells that a text such as `B2:B13` or `'Sheet 2'!B2:B13` names, of `own` unless it names
 * another of the sheets. Throws `invalid_input` unless they are one column or row of cells that are
 * written.
 */
export function chartRange(text: string, own: WriteSheet, sheets: readonly WriteSheet[]): ChartRange {
  const [, quoted, plain, part = ""] = /^(?:'((?:[^']|'')+)'!|([^'!]+)!)?([^!]*)$/.exec(text.trim()) ?? [];
  const cells = cellRange(part);
  if (cells === undefined || (cells.left !== cells.right && cells.top !== cells.bottom))
    throw invalid(`${JSON.stringify(text)} is not one column or row of cells, such as B2:B13 or 'Sheet 2'!B2:M2`);
  const name = quoted?.replaceAll("''", "'") ?? plain ?? own.name;
  const sheet = sheets.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (sheet === undefined) {
    const names = sheets.map((one) => JSON.stringify(one.name)).join(", ");
    throw invalid(`there is no sheet ${JSON.stringify(name)}; there are ${names}`);
  }
  const { rows = [] } = sheet;
  const right = rows.reduce((most, { length }) => Math.max(most, length), 0) - 1;
  const bottom = rows.length - 1;
  if (cells.right > right || cells.bottom > bottom)
    throw invalid(`${text} goes beyond ${colToLetter(right)}${bottom + 1}, the last cell of its sheet`);
  return { text, sheet, cells, isRow: cells.top === cells.bottom && cells.left !== cells.right };
}

/** A chart that cannot be made as it was asked for. */
export function invalid(why: string): AppError {
  return new AppError("invalid_input", why);
}

/** The values of its cells, in order. */
export function valuesIn({ sheet, cells: { left, right, top, bottom } }: ChartRange): readonly ChartValue[] {
  return Array.from({ length: right - left + bottom - top + 1 }, (_, at) =>
    left === right ? valueAt(sheet, top + at, left) : valueAt(sheet, top, left + at),
  );
}

/** The number format of its first cell, if that has one. */
export function formatOf({ sheet, cells: { left, top } }: ChartRange): string | undefined {
  return sheet.cells?.get(`${top},${left}`)?.style?.numFmt;
}

/** The range without its first cell. */
export function withoutFirst(range: ChartRange): ChartRange {
  const { cells, isRow } = range;
  return { ...range, cells: isRow ? { ...cells, left: cells.left + 1 } : { ...cells, top: cells.top + 1 } };
}

/** What stands above a column, or left of a row: undefined if that is not a heading. */
export function headingOf({ sheet, cells: { left, top }, isRow }: ChartRange): string | undefined {
  const [row, column] = isRow ? [top, left - 1] : [top - 1, left];
  const value = row < 0 || column < 0 ? null : valueAt(sheet, row, column);
  if (value === undefined || value === null || value === "") return undefined;
  // A number is a heading only where headings stand.
  const isHead = isRow ? column === 0 : row === (sheet.freezePane?.rows ?? 0) - 1;
  return typeof value === "string" || isHead ? String(value) : undefined;
}

/** How a chart refers to the range: `'Sheet 2'!$B$2:$B$13`. */
export function referenceTo({ sheet, cells: { left, right, top, bottom } }: ChartRange): string {
  const cell = (column: number, row: number) => `$${colToLetter(column)}$${row + 1}`;
  return `'${sheet.name.replaceAll("'", "''")}'!${cell(left, top)}:${cell(right, bottom)}`;
}

function valueAt({ rows, cells }: WriteSheet, row: number, column: number): ChartValue {
  const cell = cells?.get(`${row},${column}`);
  return cell?.formula === undefined ? (rows?.[row]?.[column] ?? null) : cell.formulaResult;
}
