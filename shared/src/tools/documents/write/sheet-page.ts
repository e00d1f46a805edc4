import { formatValue } from "hucre";
import { type Cell, type CellValue, colToLetter, readXlsx } from "hucre/xlsx";
import { escapeHtml, htmlPage } from "../../page/html-page.ts";
import { cellText } from "../read/office/cell-text.ts";
import { sheetPageBounds } from "./workbook-protocol.ts";

const { sheets: maxSheets, rows: maxRows, columns: maxColumns } = sheetPageBounds;
/** Of a cell; the page cuts what is too wide. */
const maxCharacters = 100;
/** Pixels that all columns share on a printed page. */
const pageWidth = 560;

/** The first cells of a workbook's first sheets as a page of tables, read from what was written. */
export async function sheetPage(content: Uint8Array): Promise<string> {
  const { sheets } = await readXlsx(content, {
    sheets: Array.from({ length: maxSheets }, (_, at) => at),
    range: `A1:${colToLetter(maxColumns - 1)}${maxRows}`,
    readStyles: true,
  });
  const tables = sheets.map(({ name, rows, cells }) => {
    const shown = rows.slice(0, maxRows);
    const width = Math.min(maxColumns, Math.max(1, ...shown.map(({ length }) => length)));
    const columns = Array.from({ length: width }, (_, left) => left);
    const head = columns.map((left) => `<th>${colToLetter(left)}</th>`).join("");
    const lines = shown.map((row, top) => {
      const inRow = columns.map((left) => cellHtml(row[left] ?? null, cells?.get(`${top},${left}`), width));
      return `<tr><th>${top + 1}</th>${inRow.join("")}</tr>`;
    });
    return `<h3>${escapeHtml(name)}</h3>\n<table><tr><th></th>${head}</tr>${lines.join("\n")}</table>`;
  });
  return htmlPage("Workbook", "en", `${look}\n${tables.join("\n")}`);
}

const look = `<style>
body { font-size: 11px; margin: 0; padding: 0; }
h3 { margin: 0.8em 0 0.3em; }
table { margin: 0; }
th, td { overflow: hidden; padding: 1px 4px; text-overflow: ellipsis; white-space: nowrap; }
</style>`;

/** As many digits as a spreadsheet keeps. */
const rounded = (value: CellValue) => (typeof value === "number" ? Number(value.toPrecision(12)) : value);

function cellHtml(value: CellValue, cell: Cell | undefined, columns: number): string {
  const format = cell?.style?.numFmt;
  const result = cell?.formulaResult ?? value;
  const isKnown = result !== null && result !== "";
  const text =
    isKnown && format !== undefined
      ? formatValue(result, format)
      : cellText(rounded(result), isKnown ? undefined : cell);
  const isNumber = typeof result === "number";
  const style = `max-width: ${Math.floor(pageWidth / columns)}px${cell?.style?.font?.bold === true ? "; font-weight: bold" : ""}`;
  const shown = escapeHtml(text.slice(0, maxCharacters).toWellFormed());
  return `<td${isNumber ? ' class="number"' : ""} style="${style}">${shown}</td>`;
}
