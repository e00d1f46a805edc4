import { type CellValue, readXlsx, streamXlsxRows } from "hucre/xlsx";
import { checkCells, columnNames, type ForeignTable, type ForeignValue, textCounter } from "./foreign-table.ts";

/** The names of a workbook's sheets, in their order. */
export async function sheetNames(content: Uint8Array): Promise<string[]> {
  const names: string[] = [];
  const note = ({ name }: { readonly name: string }) => {
    names.push(name);
    return false;
  };
  await readXlsx(content, { sheets: note });
  return names;
}

/**
 * A sheet as a table: empty rows are left out, and the first row gives the names when it holds nothing but texts. Cells have the values that were last computed.
 * `goOn` is asked every thousand rows and ends the reading by throwing.
 */
export async function readSheet(content: Uint8Array, sheet: string, goOn: () => void): Promise<ForeignTable> {
  const rows: ForeignValue[][] = [];
  let width = 0;
  const countText = textCounter(sheet);
  for await (const { index, values } of streamXlsxRows(content, { sheet })) {
    if (index % 1000 === 0) {
      goOn();
      await Bun.sleep(0);
    }
    const row = values.map(plain);
    if (row.every((value) => value === null)) continue;
    width = Math.max(width, row.length);
    checkCells(rows.length, width, sheet);
    countText(row);
    rows.push(row);
  }
  const [first = [], ...others] = rows;
  const filled = first.filter((value) => value !== null);
  const isHeader = filled.length > 0 && filled.every((value) => typeof value === "string");
  const places = Array.from({ length: width }, (_, index) => index);
  const columns = columnNames(places.map((index) => (isHeader ? String(first[index] ?? "") : "")));
  return { columns, rows: (isHeader ? others : rows).map((row) => places.map((index) => row[index] ?? null)) };
}

/** An empty text is what a formula leaves where there is nothing to show. */
function plain(value: CellValue): ForeignValue {
  return value === "" ? null : value;
}
