import type { QueryResult } from "./database-protocol.ts";

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
