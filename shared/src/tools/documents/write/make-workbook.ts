import { type Cell, type CellValue, colToLetter, readXlsx, writeXlsx } from "hucre/xlsx";
import { AppError } from "../../../core/errors.ts";
import { counted, firstOf } from "../../../core/text/counted.ts";
import { computedFormulas, computedNote } from "../formulas/computed-formulas.ts";
import { circleIn, type PlacedFormula } from "../formulas/formula-dependencies.ts";
import { safeFormula } from "../formulas/safe-formula.ts";
import { columnWidths, isWrapped } from "./column-widths.ts";
import { areDrawn, sheetCharts } from "./sheet-charts/sheet-charts.ts";
import { looksTyped, quotedFormat, suits, typedValue } from "./typed-value.ts";
import type { ChartToWrite } from "./workbook-protocol.ts";

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
  /** Number formats by column letter or cell, such as `#,##0.00` or `yyyy-mm-dd`. */
  readonly formats: Readonly<Record<string, string>>;
  readonly charts?: readonly ChartToWrite[] | undefined;
};

const font = { name: "Calibri", size: 11 };
const maxCells = 2_000_000;
/** A spreadsheet program opens no sheet with more. */
const maxRows = 1_048_576;

/**
 * A workbook (.xlsx) of these sheets: the columns' names, and titles above them, bold and kept in
 * view, columns as wide as their content, texts that begin with `=` as formulas, days and amounts
 * as `typedValue` reads them, and charts of their cells. What formulas give is stored with them, as
 * far as it can be computed here. Reads it back and returns what it holds. Rejects with `forbidden`
 * for a formula that does more than compute, `invalid_input` for formulas that depend on themselves
 * and for charts of nothing, `too_large`, and `internal` when what was written is not what was
 * asked for.
 */
export async function makeWorkbook(
  sheets: readonly SheetToWrite[],
): Promise<{ readonly content: Uint8Array; readonly told: string }> {
  const cells = sheets.reduce((sum, { rows }) => sum + rows.reduce((all, row) => all + row.length, 0), 0);
  if (cells > maxCells) throw new AppError("too_large", `A workbook may have ${maxCells} cells; this has ${cells}.`);
  const long = sheets.find(({ rows }) => rows.length > maxRows);
  if (long !== undefined)
    throw new AppError("too_large", `A sheet may have ${maxRows} rows; ${long.name} has ${long.rows.length}.`);
  const formulas = formulasOf(sheets);
  refuseCircles(formulas);
  const written = sheets.map(sheetOf);
  const cellsOf = written.map(({ sheet }) => sheet);
  const computed = await computedFormulas(cellsOf, formulas);
  for (const { name, cells } of cellsOf)
    for (const [place, cell] of cells ?? []) {
      const result = computed.get(`${name}!${place}`);
      if (result !== undefined && "value" in result) cell.formulaResult = result.value;
    }
  const charts = cellsOf.map((sheet, at) => sheetCharts(sheets[at]?.charts ?? [], sheet, cellsOf));
  const content = await writeXlsx({
    sheets: cellsOf.map((sheet, at) => ({ ...sheet, charts: charts[at]?.map(({ chart }) => chart) ?? [] })),
    defaultFont: font,
  });
  const { sheets: found } = await readXlsx(content);
  const told = found.map((sheet, at) => {
    const formulas = [...(sheet.cells?.values() ?? [])].filter(({ formula }) => formula !== undefined).length;
    const wanted = sheets[at];
    const asked = wanted === undefined || wanted.plain ? 0 : wanted.rows.flat().filter(isFormula).length;
    const drawn = charts[at] ?? [];
    const isAsAsked =
      sheet.name === wanted?.name &&
      sheet.rows.length === wanted.rows.length &&
      formulas === asked &&
      areDrawn(drawn, sheet);
    if (!isAsAsked) throw new AppError("internal", `The sheet ${sheet.name} was not written as given.`);
    const parts = [
      `${counted(sheet.rows.length, "row")}, ${counted(formulas, "formula")}`,
      ...becameNotes(written[at]?.became),
      ...drawn.map((chart) => chart.told),
    ];
    return `${JSON.stringify(sheet.name)} (${parts.join("; ")})`;
  });
  const notes = [textsNote(written.flatMap(({ texts }) => texts)), computedNote(formulas, computed, cellsOf)];
  return { content, told: `${told.join(", ")}.${notes.join("")}` };
}

function becameNotes({ dates, numbers }: Became = { dates: 0, numbers: 0 }): readonly string[] {
  const parts = [...(dates > 0 ? [counted(dates, "date")] : []), ...(numbers > 0 ? [counted(numbers, "number")] : [])];
  return parts.length === 0 ? [] : [`of its texts became ${parts.join(", ")}`];
}

/** The cells whose text a reader takes for a value, and a formula does not. */
function textsNote(texts: readonly string[]): string {
  if (texts.length === 0) return "";
  return ` Texts, not numbers or dates: ${firstOf(texts, 4)}.`;
}

/** How many texts have become values. */
type Became = { readonly dates: number; readonly numbers: number };

/** A sheet as the library writes it. */
type WrittenSheet = {
  readonly sheet: Parameters<typeof writeXlsx>[0]["sheets"][number];
  readonly became: Became;
  /** Cells with texts that look like values. */
  readonly texts: readonly string[];
};

function sheetOf({ name, rows, plain, formats }: SheetToWrite): WrittenSheet {
  const head = headOf(rows);
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const marked = new Map<string, Partial<Cell>>();
  const texts: string[] = [];
  const became = { dates: 0, numbers: 0 };
  const columns = columnWidths();
  /** Of each column, the format with the most decimals of texts that became values, if all did. */
  const finest: (string | null)[] = [];
  const values = rows.map((row, top) =>
    row.map((value, left): CellValue => {
      const letter = colToLetter(left);
      const place = `${letter}${top + 1}`;
      const isData = top > head;
      const typed = isData && typeof value === "string" ? typedValue(value) : undefined;
      const ofColumn = isData ? formats[letter] : undefined;
      const given =
        formats[place] ?? (ofColumn === undefined || !typed || suits(ofColumn, typed) ? ofColumn : undefined);
      if (typed !== undefined) finest[left] = finer(finest[left], typed.format);
      else if (typeof value === "number") finest[left] = null;
      const own = typed?.format ?? (!plain && sumsUp(value, letter) ? (finest[left] ?? undefined) : undefined);
      const numFmt = given === undefined ? own : quotedFormat(given);
      const style = {
        ...(isData && isWrapped(value) && { alignment: { wrapText: true, vertical: "top" as const } }),
        ...(!isData && { font: { ...font, bold: true } }),
        ...(numFmt !== undefined && { numFmt }),
      };
      const isStyled = Object.keys(style).length > 0;
      if (!plain && isFormula(value)) {
        const formula = safeFormula(value, `${name}!${place}`);
        marked.set(`${top},${left}`, { value: null, type: "formula", formula, ...(isStyled && { style }) });
        columns.fit(left, undefined, numFmt);
        return null;
      }
      if (typed !== undefined) became[typed.value instanceof Date ? "dates" : "numbers"]++;
      else if (isData && typeof value === "string" && looksTyped(value)) texts.push(`${name}!${place}`);
      const shown = typed?.value ?? (isData ? unquoted(value, plain) : value);
      if (isStyled) marked.set(`${top},${left}`, { value: shown, style });
      if (top >= head) columns.fit(left, shown, numFmt);
      return shown;
    }),
  );
  const sheet = {
    name,
    rows: values,
    cells: marked,
    columns: columns.widths(width),
    freezePane: { rows: head + 1 },
  };
  return { sheet, became, texts };
}

const maxTitles = 8;

/**
 * The row of the columns' names: the first, or the first of several cells where titles precede it.
 */
function headOf(rows: SheetToWrite["rows"]): number {
  const filled = rows.slice(0, maxTitles).map((row) => row.filter((value) => value !== null && value !== "").length);
  return (filled[0] ?? 0) > 1
    ? 0
    : Math.max(
        0,
        filled.findIndex((count) => count > 1),
      );
}

/** Of two formats of a column the one with more decimals; none where there was a plain number. */
function finer(one: string | null | undefined, other: string): string | null {
  return one === undefined || (one !== null && other.length > one.length) ? other : one;
}

/** Whether a formula gives what its own column holds, so that it is shown as that is. */
function sumsUp(value: WrittenValue, letter: string): boolean {
  const range = /^=(?:SUM|MIN|MAX)\(\$?([A-Z]+)\$?\d+:\$?([A-Z]+)\$?\d+\)$/i;
  const [, first, last] = (typeof value === "string" && range.exec(value.toUpperCase())) || [];
  return first === letter && last === letter;
}

function isFormula(value: WrittenValue): value is string {
  return typeof value === "string" && value.startsWith("=") && value.length > 1;
}

/** A leading ' keeps a text as it is. */
function unquoted(value: WrittenValue, plain: boolean): WrittenValue {
  return !plain && typeof value === "string" && value.startsWith("'") ? value.slice(1) : value;
}

function formulasOf(sheets: readonly SheetToWrite[]): readonly PlacedFormula[] {
  return sheets.flatMap(({ name, rows, plain }) =>
    plain
      ? []
      : rows.flatMap((row, top) =>
          row.flatMap((value, left): PlacedFormula[] =>
            isFormula(value) ? [{ sheet: name, column: left + 1, row: top + 1, formula: value.slice(1) }] : [],
          ),
        ),
  );
}

/** A spreadsheet shows 0 or an error where formulas depend on themselves. */
function refuseCircles(formulas: readonly PlacedFormula[]): void {
  const circle = circleIn(formulas);
  if (circle === undefined) return;
  const shown = circle.length > 8 ? [...circle.slice(0, 7), "…", ...circle.slice(-1)] : circle;
  throw new AppError("invalid_input", `Formulas depend on themselves: ${shown.join(" needs ")}. Nothing was written.`);
}
