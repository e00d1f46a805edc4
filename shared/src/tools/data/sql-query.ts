import * as z from "zod";
import { defineTool } from "../../core/define-tool.ts";
import type { Effect } from "../../core/run.ts";
import type { Tool } from "../../core/tool.ts";
import type { Databases } from "./database/databases.ts";
import { csvText, textTable } from "./database/result-text.ts";

const shownRows = 50;
const keptCharacters = 16 * 1024 * 1024;

const input = z.strictObject({
  sql: z
    .string()
    .min(1)
    .describe("DuckDB SQL. Files are read by name: SELECT * FROM 'sales.csv', FROM 'book.xlsx/Sheet 2'."),
  timeout: z.number().positive().max(600).default(60).describe("Seconds after which it is stopped."),
});

const description = `Runs SQL (DuckDB) over the workspace's CSV, Parquet, JSON, Excel (.xlsx) and SQLite files and returns the first ${shownRows} rows and
their number; a longer result is saved as a CSV file. FROM 'book.xlsx' is its first sheet, FROM 'book.xlsx/Sheet 2' another, FROM 'shop.db/orders' a table
of an SQLite file, and FROM 'book.xlsx/*' lists them. COPY (SELECT …) TO 'file.csv' (or .parquet, .json) writes a file.
Tables you create last for a while, not for ever: write what you need later to a file. No network, no files
outside the workspace, no extensions; statements read and change data, not how the database works.`;

/** One statement that writes. */
const writing = /^\s*(?:copy|create|insert|update|delete|merge)\b(?!.*;\s*\S)/is;

/** The `sql_query` tool. */
export function sqlQuery({ databases }: { readonly databases: Databases }): Tool {
  const tool = defineTool({
    name: "sql_query",
    description: description.replaceAll("\n", " "),
    input,
    effect: ({ sql }) => sqlEffect(sql),
    async run({ sql, timeout }, { workspace, signal }) {
      const bounds = { signal, timeoutMs: timeout * 1000, maxCharacters: keptCharacters };
      const result = await databases.query(workspace, sql, bounds);
      if (sqlEffect(sql) === "once") await workspace.adopt(".");
      const { rows, total } = result;
      const [column] = result.columns;
      if (column === undefined || (total === 0 && column.name === "Success"))
        return "(done; the statement has no result)";
      // A writing statement returns the number of rows it wrote, as a table of one cell.
      if (writing.test(sql) && total === 1 && result.columns.length === 1 && column.name === "Count")
        return `Done: ${rows[0]?.[0]} ${String(rows[0]?.[0]) === "1" ? "row" : "rows"}.`;
      const table = textTable(result, shownRows);
      if (total <= shownRows) return `${table}\n[${total} ${total === 1 ? "row" : "rows"}]`;
      const path = await workspace.spill("result.csv", csvText(result));
      const kept =
        rows.length < total ? `the first ${rows.length} of them: ${path}; use COPY … TO for all` : `all: ${path}`;
      return `${table}\n[${total} rows, ${shownRows} shown; ${kept}]`;
    },
  });
  return { ...tool, release: (workspace) => databases.release(workspace) };
}

const reading = /^\s*(?:select|with|from|describe|summarize|show|explain|values|pivot|unpivot|table)\b/i;
const changing =
  /\b(?:copy|create|insert|update|delete|drop|alter|attach|detach|export|import|merge|truncate|call|set|use|load|install|checkpoint|vacuum|nextval|pragma)\b|;\s*\S/i;

/**
 * The effect of repeating a statement. Any word that could change something makes it `once`, even
 * within a text.
 */
export function sqlEffect(sql: string): Effect {
  return reading.test(sql) && !changing.test(sql) ? "pure" : "once";
}
