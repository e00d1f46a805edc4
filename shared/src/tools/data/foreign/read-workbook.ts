import { type CellValue, readXlsx, streamXlsxRows } from "hucre/xlsx";
import { calculated } from "../../documents/read/office/calculated.ts";
import { calculateFirst, uncalculatedIn, uncalculatedNote } from "../../documents/read/office/uncalculated.ts";
import { checkCells, columnNames, type ForeignTable, type ForeignValue, textCounter } from "./foreign-table.ts";

const maxTitles = 5;

type ListedSheet = { readonly name: string; readonly hidden?: boolean; readonly veryHidden?: boolean };

/** A workbook's sheets, in order, and which of them nobody is shown. */
export async function sheetsOf(content: Uint8Array): Promise<{ readonly name: string; readonly hidden: boolean }[]> {
  const sheets: { name: string; hidden: boolean }[] = [];
  const note = ({ name, hidden = false, veryHidden = false }: ListedSheet) => {
    sheets.push({ name, hidden: hidden || veryHidden });
    return false;
  };
  await readXlsx(content, { sheets: note });
  return sheets;
}

/**
 * A sheet as a table: empty rows and titles above the table are left out; the first row is the
 * column names when it holds only texts, with the second where that fills its gaps. Cells have
 * their last computed values, or those computed here; `notes` names those that have none. `goOn` is
 * called every thousand rows and stops the reading by throwing.
 */
export async function readSheet(content: Uint8Array, sheet: string, goOn: () => void): Promise<ForeignTable> {
  const stored = await cellsOf(content, sheet, goOn);
  const lacking = stored.hasGaps ? await uncalculatedIn(content, sheet) : undefined;
  const values = typeof lacking === "object" ? await calculated(content) : undefined;
  const uncalculated = values === undefined ? lacking : await uncalculatedIn(content, sheet, values);
  const { rows, width, computed } =
    values === undefined ? stored : await cellsOf(content, sheet, goOn, (at) => values.get(`${sheet}!${at}`));
  if (width === 0) {
    const has =
      typeof uncalculated === "object" ? `has only formulas without stored values. ${calculateFirst}` : "is empty.";
    throw new Error(`the sheet ${sheet} ${has}`);
  }
  const below = rows.slice(titleRows(rows, width));
  const places = Array.from({ length: width }, (_, index) => index);
  const names = twoRowNames(below, places) ?? oneRowNames(below[0] ?? [], places);
  const columns = columnNames(names?.texts ?? places.map(() => ""));
  const notes = [
    ...(computed === 0 ? [] : [computedNote(computed)]),
    ...(typeof uncalculated === "object" ? [uncalculatedNote(uncalculated, columns)] : []),
  ];
  return {
    columns,
    notes: uncalculated === "unknown" ? [tooLarge] : notes,
    rows: below.slice(names?.rows ?? 0).map((row) => places.map((index) => row[index] ?? null)),
  };
}

type Cells = {
  readonly rows: readonly ForeignValue[][];
  readonly width: number;
  readonly hasGaps: boolean;
  readonly computed: number;
};

/** The rows that hold anything; `valueAt` gives the cells that the file leaves empty theirs. */
async function cellsOf(
  content: Uint8Array,
  sheet: string,
  goOn: () => void,
  valueAt: (place: string) => CellValue | undefined = () => undefined,
): Promise<Cells> {
  const rows: ForeignValue[][] = [];
  let [width, computed, hasGaps] = [0, 0, false];
  const countText = textCounter(sheet);
  const filled = (value: CellValue, place: string) => {
    const found = value === null ? valueAt(place) : undefined;
    if (found !== undefined) computed += 1;
    return plain(found ?? value);
  };
  for await (const { index, values } of streamXlsxRows(content, { sheet })) {
    if (index % 1000 === 0) {
      goOn();
      await Bun.sleep(0);
    }
    const row = values.map((value, column) => filled(value, `${index},${column}`));
    hasGaps ||= values.includes(null);
    if (row.every((value) => value === null)) continue;
    width = Math.max(width, row.length);
    checkCells(rows.length, width, sheet);
    countText(row);
    rows.push(row);
  }
  return { rows, width, hasGaps, computed };
}

function computedNote(count: number): string {
  return `${count} ${count === 1 ? "cell has a formula without a stored value, which was" : "cells have formulas without stored values, which were"} computed here.`;
}

type Names = { readonly rows: number; readonly texts: readonly string[] };
type Row = readonly ForeignValue[];

function oneRowNames(row: Row, places: readonly number[]): Names | undefined {
  const filled = row.filter((value) => value !== null);
  const areNames = filled.length > 0 && filled.every((value) => typeof value === "string");
  return areNames ? { rows: 1, texts: places.map((index) => String(row[index] ?? "")) } : undefined;
}

/**
 * The names of columns under merged cells: a row of groups with gaps, and one of texts that fills
 * them, above a row which shows by its numbers that the texts are not part of the table.
 */
function twoRowNames(
  [groups = [], names = [], values = []]: readonly Row[],
  places: readonly number[],
): Names | undefined {
  const isGroup = (value: ForeignValue) => typeof value === "string" || Number.isInteger(value);
  const fills = places.every((index) => {
    const [group = null, name = null] = [groups[index], names[index]];
    return name === null
      ? group !== null && isGroup(group)
      : typeof name === "string" && (group === null || isGroup(group));
  });
  const hasGap = places.some((index) => (groups[index] ?? null) === null);
  const isAbove = places.some((index) => typeof names[index] === "string" && typeof (values[index] ?? "") !== "string");
  if (!fills || !hasGap || !isAbove || (groups[0] ?? null) === null) return undefined;
  let group: ForeignValue = null;
  const texts = places.map((index) => {
    group = groups[index] ?? group;
    return [group, names[index] ?? ""].join(" ");
  });
  return { rows: 2, texts };
}

const tooLarge =
  "The workbook is too large to tell empty cells from formulas without a stored value: a column that is NULL throughout may be one of those.";

/** How many rows at the top have only one cell, when a row with several follows soon. */
function titleRows(rows: readonly (readonly ForeignValue[])[], width: number): number {
  const isTitle = (row: readonly ForeignValue[]) => row.filter((value) => value !== null).length < 2;
  const count = rows.slice(0, maxTitles + 1).findIndex((row) => !isTitle(row));
  return width > 1 && count > 0 ? count : 0;
}

/**
 * A formula leaves an empty text when there is nothing to show. A date beyond all calendars is a
 * text, or its column could not be stored.
 */
function plain(value: CellValue): ForeignValue {
  if (value instanceof Date && Number.isNaN(value.getTime())) return "(no date)";
  return value === "" ? null : value;
}
