import { counted } from "../../../core/text/counted.ts";
import type { QueryResult } from "./database-protocol.ts";

const maxColumns = 40;
const maxCellCharacters = 120;
/**
 * What few cells may take together: the text that defines a table is longer than a cell of many.
 */
const fewCellsCharacters = 6_000;

/**
 * A table as text for a model: one line a row, cells separated by ` | `, at most `maxRows` rows,
 * wide ones cut with a mark, the wider the fewer cells there are.
 */
export function textTable({ columns, rows }: Pick<QueryResult, "columns" | "rows">, maxRows: number): string {
  const shown = columns.slice(0, maxColumns);
  const more = columns.length > maxColumns ? ` | … ${counted(columns.length - maxColumns, "more column")}` : "";
  const cells = Math.max(1, Math.min(rows.length, maxRows) * shown.length);
  const most = Math.max(maxCellCharacters, Math.floor(fewCellsCharacters / Math.max(3, cells)));
  const header = shown.map(({ name }) => cellText(name)).join(" | ") + more;
  const lines = rows.slice(0, maxRows).map((row) =>
    row
      .slice(0, maxColumns)
      .map((value) => shownCell(value, most))
      .join(" | "),
  );
  return [header, shown.map(({ type }) => cut(type, 40)).join(" | "), ...lines].join("\n");
}

/** A value on one line; NULL when there is none. */
export function cellText(value: unknown): string {
  return shownCell(value, maxCellCharacters);
}

function shownCell(value: unknown, most: number): string {
  if (value === null || value === undefined) return "NULL";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return cut(text.replaceAll(/[\r\n]+/g, "⏎"), most);
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A result as CSV (RFC 4180, with a header): NULL is an empty field, an empty text is `""`. */
export function csvText({ columns, rows }: Pick<QueryResult, "columns" | "rows">): string {
  const lines = [columns.map(({ name }) => name), ...rows].map((row) => row.map(field).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
