import { type Cell, type CellValue, colToLetter, readXlsx, writeXlsx } from "hucre/xlsx";
import { AppError } from "../../../core/errors.ts";
import { circleIn, type PlacedFormula } from "./circular-formulas.ts";
import { safeFormula } from "./safe-formula.ts";

/** A value of a cell as a model writes it. */
type WrittenValue = string | number | boolean | null;

/**
 * A sheet to write. `rows` begins with the columns' names, or with titles of one cell above them;
 * `plain` cells are never formulas.
 */
export type SheetToWrite = {
  readonly name: string;
  readonly rows: readonly (readonly WrittenValue[])[];
  readonly plain: boolean;
  /** Number formats by column letter, such as `#,##0.00` or `yyyy-mm-dd`. */
  readonly formats: Readonly<Record<string, string>>;
};

const mostCells = 2_000_000;
/** A spreadsheet program opens no sheet with more. */
const mostRows = 1_048_576;
const isoDay = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/**
 * A workbook (.xlsx) of these sheets: the columns' names, and titles above them, bold and kept in
 * view, columns as wide as their content, texts that begin with `=` as formulas, ISO days as dates.
 * Reads it back and returns what it holds. Rejects with `forbidden` for a formula that does more
 * than compute, `invalid_input` for formulas that depend on themselves, `too_large`, and `internal`
 * when what was written is not what was asked for.
 */
export async function makeWorkbook(
  sheets: readonly SheetToWrite[],
): Promise<{ readonly content: Uint8Array; readonly told: string }> {
  const cells = sheets.reduce((sum, { rows }) => sum + rows.reduce((all, row) => all + row.length, 0), 0);
  if (cells > mostCells) throw new AppError("too_large", `A workbook may have ${mostCells} cells; this has ${cells}.`);
  const long = sheets.find(({ rows }) => rows.length > mostRows);
  if (long !== undefined)
    throw new AppError("too_large", `A sheet may have ${mostRows} rows; ${long.name} has ${long.rows.length}.`);
  refuseCircles(sheets);
  const content = await writeXlsx({ sheets: sheets.map(sheetOf), defaultFont: { name: "Calibri", size: 11 } });
  const { sheets: found } = await readXlsx(content);
  const told = found.map((sheet) => {
    const formulas = [...(sheet.cells?.values() ?? [])].filter(({ formula }) => formula !== undefined).length;
    const wanted = sheets.find(({ name }) => name === sheet.name);
    const asked = wanted === undefined || wanted.plain ? 0 : wanted.rows.flat().filter(isFormula).length;
    if (sheet.rows.length !== wanted?.rows.length || formulas !== asked)
      throw new AppError("internal", `The sheet ${sheet.name} was not written as given.`);
    return `${JSON.stringify(sheet.name)} (${sheet.rows.length} rows, ${formulas} formulas)`;
  });
  return { content, told: told.join(", ") };
}

function sheetOf({ name, rows, plain, formats }: SheetToWrite): Parameters<typeof writeXlsx>[0]["sheets"][number] {
  const head = headOf(rows);
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const marked = new Map<string, Partial<Cell>>();
  const values = rows.map((row, top) =>
    row.map((value, left): CellValue => {
      const letter = colToLetter(left);
      const style = {
        ...(top <= head && { font: { bold: true } }),
        ...(top > head && formats[letter] !== undefined && { numFmt: formats[letter] }),
      };
      const isStyled = Object.keys(style).length > 0;
      if (!plain && isFormula(value)) {
        const formula = safeFormula(value, `${name}!${letter}${top + 1}`);
        marked.set(`${top},${left}`, { value: null, type: "formula", formula, ...(isStyled && { style }) });
        return null;
      }
      const shown = top > head ? typed(value, plain) : value;
      const numFmt = shown instanceof Date && formats[letter] === undefined ? { numFmt: "yyyy-mm-dd" } : {};
      if (isStyled || shown instanceof Date)
        marked.set(`${top},${left}`, { value: shown, style: { ...style, ...numFmt } });
      return shown;
    }),
  );
  return {
    name,
    rows: values,
    cells: marked,
    columns: Array.from({ length: width }, () => ({ autoWidth: true })),
    freezePane: { rows: head + 1 },
  };
}

const mostTitles = 8;

/**
 * The row of the columns' names: the first, or the first of several cells where titles precede it.
 */
function headOf(rows: SheetToWrite["rows"]): number {
  const filled = rows.slice(0, mostTitles).map((row) => row.filter((value) => value !== null && value !== "").length);
  return (filled[0] ?? 0) > 1
    ? 0
    : Math.max(
        0,
        filled.findIndex((count) => count > 1),
      );
}

function isFormula(value: WrittenValue): value is string {
  return typeof value === "string" && value.startsWith("=") && value.length > 1;
}

/** An ISO day is a date; a leading ' keeps a text as it is. */
function typed(value: WrittenValue, plain: boolean): CellValue {
  if (typeof value !== "string") return value;
  const day = dayIn(value);
  if (day !== undefined) return day;
  return !plain && value.startsWith("'") ? value.slice(1) : value;
}

/** The day that a text says; one that no calendar has would become another, and stays a text. */
function dayIn(text: string): Date | undefined {
  if (!isoDay.test(text)) return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  return day.toISOString().startsWith(text) ? day : undefined;
}

/** A spreadsheet shows 0 or an error where formulas depend on themselves. */
function refuseCircles(sheets: readonly SheetToWrite[]): void {
  const formulas = sheets.flatMap(({ name, rows, plain }) =>
    plain
      ? []
      : rows.flatMap((row, top) =>
          row.flatMap((value, left): PlacedFormula[] =>
            isFormula(value) ? [{ sheet: name, column: left + 1, row: top + 1, formula: value.slice(1) }] : [],
          ),
        ),
  );
  const circle = circleIn(formulas);
  if (circle === undefined) return;
  const shown = circle.length > 8 ? [...circle.slice(0, 7), "…", ...circle.slice(-1)] : circle;
  throw new AppError("invalid_input", `Formulas depend on themselves: ${shown.join(" needs ")}. Nothing was written.`);
}
