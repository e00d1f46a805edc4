import { readOds, streamOdsRows } from "hucre/ods";
import { colToLetter, readXls, readXlsb, readXlsx, type Sheet, streamXlsxRows, type Workbook } from "hucre/xlsx";
import { AppError, messageOf } from "../../../../core/errors.ts";
import { counted } from "../../../../core/text/counted.ts";
import { tableLine } from "../markdown-table.ts";
import type { DocumentPiece, Reading } from "../reading.ts";
import { requireUnpackable, zipContent } from "../zip-content.ts";
import { calculated } from "./calculated.ts";
import { cellText } from "./cell-text.ts";
import { macrosNote } from "./office-file.ts";
import { type CellRange, type SheetChoice, sheetChoice } from "./sheet-choice.ts";
import { calculateFirst, isUncalculated } from "./uncalculated.ts";
import { unshownNote } from "./unshown-parts.ts";

/** The formats of workbooks. */
type Format = "xlsx" | "xlsb" | "xls" | "ods";

const names: Readonly<Record<Format, string>> = {
  xlsx: "Excel workbook",
  xlsb: "Excel workbook (binary)",
  xls: "Excel workbook (97–2003)",
  ods: "OpenDocument spreadsheet",
};

/** A workbook that unpacks to more is read row by row, without its formulas. */
const maxWholeBytes = 48 * 2 ** 20;
const maxBytes = 2 ** 31;
const maxColumns = 200;

/** One row of a sheet, with its number from 0 and its cells as text. */
type Row = { readonly index: number; readonly cells: readonly string[] };

/** A sheet that can be read. */
type OpenSheet = {
  readonly name: string;
  readonly hidden: boolean;
  /** Where it is known before they are read. */
  readonly rowCount?: number;
  rows(range: CellRange): AsyncIterable<Row>;
};

/**
 * A workbook, sheet by sheet and row by row, with the cells' addresses, their last computed values
 * and formulas. `part` is a sheet (`Sales`, `#2`), a range of it (`Sales!A1:F40`), or both omitted
 * for all. Macros are not run, other files not opened.
 */
export async function readWorkbook(format: Format, bytes: Uint8Array, part: string | undefined): Promise<Reading> {
  const zip = format === "xls" ? undefined : await zipContent(bytes);
  if (zip !== undefined) requireUnpackable(zip, maxBytes);
  const isLarge = (zip?.unpackedBytes ?? 0) > maxWholeBytes;
  const streams = isLarge && (format === "xlsx" || format === "ods");
  const { sheets, note } = streams ? await streamed(format, bytes) : await whole(format, bytes);
  const choice = sheetChoice(
    part,
    sheets.map(({ name }) => name),
  );
  const held = zip === undefined ? "" : `${macrosNote(zip)}${await unshownNote(zip)}`;
  const about = `${names[format]}, ${counted(sheets.length, "sheet")}${held}${note}`;
  return { about, pieces: sheetPieces(sheets, choice) };
}

const tooLarge = ", large, so its formulas are not shown, and those without a stored value look empty";

/** Gives the formulas of which the file stores no value those that can be computed, and says so. */
async function calculate(bytes: Uint8Array, book: Workbook): Promise<string> {
  const values = await calculated(bytes, book);
  for (const { name, cells } of book.sheets)
    for (const [key, cell] of cells ?? []) {
      const value = values.get(`${name}!${key}`);
      if (value !== undefined) cell.formulaResult = value;
    }
  return values.size === 0 ? "" : `, ${counted(values.size, "formula")} without a stored value, computed here`;
}

/** How many formulas have no value, because the file has none stored. */
function uncalculatedNote({ sheets }: Workbook): string {
  const counts = sheets.map(({ cells }) => [...(cells?.values() ?? [])].filter(isUncalculated).length);
  const count = counts.reduce((sum, one) => sum + one, 0);
  if (count === 0) return "";
  const named = counts.flatMap((one, at) => (one === 0 ? [] : [`#${at + 1}: ${one}`]));
  return `, ${counted(count, "formula")} without a stored value (${named.slice(0, 8).join(", ")}). ${calculateFirst.replace(/\.$/, "")}`;
}

async function* sheetPieces(
  sheets: readonly OpenSheet[],
  { from, to, range }: SheetChoice,
): AsyncGenerator<DocumentPiece> {
  let list = to > from ? sheetList(sheets) : "";
  for (let at = from; at <= to; at++) {
    const sheet = sheets[at];
    if (sheet === undefined) continue;
    const key = `#${at + 1}`;
    const rest = at < to ? "-" : "";
    let isFirst = true;
    for await (const { index, cells } of sheet.rows(range)) {
      const head = isFirst ? `${list}${sheetHead(sheet, at, cells.length, range)}` : "";
      const number = index + 1;
      const place = `${key}${rest}!${colToLetter(range.left)}${number}:${rangeEnd(range)}`;
      isFirst = false;
      list = "";
      yield { label: `${key} row ${number}`, at: place, text: `${head}${tableLine([String(number), ...cells])}` };
    }
    if (isFirst)
      yield { label: `${key} (empty)`, at: `${key}${rest}`, text: `## Sheet ${key} ${sheet.name}\n\n(empty)` };
  }
}

/**
 * All sheets at a glance, since the first may fill the result. Their names are the file's words.
 */
function sheetList(sheets: readonly OpenSheet[]): string {
  const named = sheets.map((sheet, at) => {
    const rows = sheet.rowCount === undefined ? "" : `, ${counted(sheet.rowCount, "row")}`;
    return `${sheetTitle(sheet, at)}${rows}`;
  });
  return `Sheets: ${named.join("; ")}\n\n`;
}

function sheetTitle({ name, hidden }: OpenSheet, at: number): string {
  return `#${at + 1} ${name.replaceAll(/\s+/g, " ")}${hidden ? " (hidden)" : ""}`;
}

function rangeEnd({ right, bottom }: CellRange): string {
  return `${colToLetter(Math.min(right, maxLetters))}${Math.min(bottom, maxRows) + 1}`;
}

const maxLetters = 16_383;
const maxRows = 1_048_575;

function sheetHead(sheet: OpenSheet, at: number, width: number, { left }: CellRange): string {
  const letters = Array.from({ length: Math.max(1, width) }, (_, column) => colToLetter(left + column));
  const head = tableLine(["", ...letters]);
  return `## Sheet ${sheetTitle(sheet, at)}\n\n${head}\n${tableLine(["---", ...letters.map(() => "---")])}\n`;
}

async function readWhole(format: Format, bytes: Uint8Array): Promise<Workbook> {
  try {
    return await { xlsx: readXlsx, xlsb: readXlsb, xls: readXls, ods: readOds }[format](bytes);
  } catch (error) {
    throw new AppError("unsupported", `The workbook cannot be read: ${messageOf(error)}`);
  }
}

/** The sheets of a workbook, and what its reader has to know before them. */
type OpenBook = { readonly sheets: readonly OpenSheet[]; readonly note: string };

async function whole(format: Format, bytes: Uint8Array): Promise<OpenBook> {
  const book = await readWhole(format, bytes);
  const computed = format === "xlsx" ? await calculate(bytes, book) : "";
  const sheets = book.sheets.map(
    (sheet): OpenSheet => ({
      name: sheet.name,
      hidden: sheet.hidden === true || sheet.veryHidden === true,
      rowCount: sheet.rows.length,
      async *rows({ left, right, top, bottom }) {
        const width = Math.min(maxColumns, widthOf(sheet) - left, right - left + 1);
        for (let index = top; index <= Math.min(bottom, sheet.rows.length - 1); index++) {
          const cells = Array.from({ length: Math.max(0, width) }, (_, at) => {
            const column = left + at;
            return cellText(sheet.rows[index]?.[column] ?? null, sheet.cells?.get(`${index},${column}`));
          });
          if (cells.some((cell) => cell !== "")) yield { index, cells };
        }
      },
    }),
  );
  return { sheets, note: `${computed}${uncalculatedNote(book)}` };
}

/** One more than the last column that holds anything. */
function widthOf({ rows, cells }: Sheet): number {
  const inRows = rows.map((row) => row.findLastIndex((value) => value !== null && value !== "") + 1);
  const inCells = [...(cells?.keys() ?? [])].map((key) => Number(key.split(",")[1]) + 1);
  return [...inRows, ...inCells].reduce((most, width) => Math.max(most, width), 0);
}

async function streamed(format: "xlsx" | "ods", bytes: Uint8Array): Promise<OpenBook> {
  const found: { readonly name: string; readonly hidden: boolean }[] = [];
  type Told = { readonly name: string; readonly hidden?: boolean; readonly veryHidden?: boolean };
  // The library asks about a sheet more than once.
  const note = ({ name, hidden, veryHidden }: Told, at: number) => {
    found[at] = { name, hidden: hidden === true || veryHidden === true };
    return false;
  };
  await (format === "xlsx" ? readXlsx : readOds)(bytes, { sheets: note });
  const sheets = found.map(
    (sheet, at): OpenSheet => ({
      ...sheet,
      async *rows({ left, right, top, bottom }) {
        const rows = format === "xlsx" ? streamXlsxRows(bytes, { sheet: at }) : streamOdsRows(bytes, { sheets: [at] });
        for await (const { index, values } of rows) {
          if (index > bottom) return;
          const cells = values.slice(left, Math.min(right + 1, left + maxColumns)).map((value) => cellText(value));
          if (index >= top && cells.some((cell) => cell !== "")) yield { index, cells };
        }
      },
    }),
  );
  return { sheets, note: tooLarge };
}
