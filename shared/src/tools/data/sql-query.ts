import * as z from "zod";
import type { Effect } from "../../core/runs/run.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createdText } from "./database/created-text.ts";
import type { QueryResult } from "./database/database-protocol.ts";
import type { Databases } from "./database/databases.ts";
import { csvText, textTable } from "./database/result-text.ts";
import type { DatabaseServers } from "./servers/database-servers.ts";

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

/** What a model is told of the databases that the settings name. */
function serversText({ listed }: DatabaseServers): string {
  const told = listed.map(
    ({ name, about, readOnly }) => `${name} (${about}${readOnly ? "" : "; write: true changes it"})`,
  );
  return ` With database the statement goes to a server, in its own SQL, and reads none of the files: ${told.join(", ")}. See its tables in information_schema (sqlite_schema in SQLite) first.`;
}

/** The `sql_query` tool. */
export function sqlQuery({
  databases,
  servers,
}: {
  readonly databases: Databases;
  readonly servers?: DatabaseServers;
}): Tool {
  const told = new WeakMap<Workspace, Set<string>>();
  const local = (asked: Asked, context: ToolContext) => queryFiles({ databases, told }, asked, context);
  const named = servers?.listed.map(({ name }) => name) ?? [];
  const base = { name: "sql_query", release: (workspace: Workspace) => databases.release(workspace) };
  const about = description.replaceAll("\n", " ");
  if (servers === undefined || named.length === 0)
    return defineTool({ ...base, description: about, input, effect: ({ sql }) => sqlEffect(sql), run: local });
  return defineTool({
    ...base,
    description: about + serversText(servers),
    input: input.extend({
      database: z.enum(named).optional().describe("A server, instead of the files."),
      write: z.boolean().default(false).describe("Whether the statement changes the server's data."),
    }),
    effect: ({ sql, database, write }) => (database === undefined ? sqlEffect(sql) : write ? "once" : "pure"),
    risk: async ({ database, write }) =>
      database !== undefined && write ? `changes data of the database ${database}` : undefined,
    run: ({ database, write, ...asked }, context) =>
      database === undefined ? local(asked, context) : queryServer(servers, { ...asked, database, write }, context),
  });
}

type Asked = z.output<typeof input>;

/** Where files are read, and what each task has been told of them. */
type FilesDeps = { readonly databases: Databases; readonly told: WeakMap<Workspace, Set<string>> };

async function queryFiles({ databases, told }: FilesDeps, { sql, timeout }: Asked, context: ToolContext) {
  const { workspace, signal } = context;
  const bounds = { signal, timeoutMs: timeout * 1000, maxCharacters: keptCharacters };
  const result = await databases.query(workspace, sql, bounds);
  if (sqlEffect(sql) === "once") await workspace.adopt(".");
  const { rows, total, instead } = result;
  const known = told.get(workspace) ?? new Set();
  told.set(workspace, known);
  if (instead === undefined) {
    const table = await shown(result, workspace, total, "use COPY … TO for all");
    return withNews(`${table}${unshownText(result.unshown)}`, result, known);
  }
  const done = instead === "count" ? doneText(rows[0]?.[0]) : "Done.";
  const created = await createdText(sql, (more) => databases.query(workspace, more, bounds));
  return withNews([done, ...created].join(" "), result, known);
}

/** Says that earlier statements had rows too. */
function unshownText(unshown = 0): string {
  if (unshown === 0) return "";
  const results =
    unshown === 1 ? "The result of an earlier SELECT is" : `The results of ${unshown} earlier SELECTs are`;
  return `\n[${results} not shown: one SELECT a call.]`;
}

function doneText(rows: unknown): string {
  return `Done: ${rows} ${String(rows) === "1" ? "row" : "rows"}.`;
}

/** A result with what its reader has to know of the files it is from and has not been told yet. */
function withNews(text: string, { notes }: Pick<QueryResult, "notes">, known: Set<string>): string {
  const news = notes.filter((note) => !known.has(note));
  for (const note of news) known.add(note);
  return [text, ...news.map((note) => `Note: ${note}`)].join("\n");
}

/** A statement of which a server counts the rows. */
const counted = /\b(?:insert|update|delete|merge|replace|copy)\b/i;

async function queryServer(
  servers: DatabaseServers,
  { sql, database, write }: Asked & { readonly database: string; readonly write: boolean },
  { workspace, signal }: ToolContext,
) {
  const answer = await servers.query(database, sql, { write, signal, maxCharacters: keptCharacters });
  if (answer.columns.length === 0) return counted.test(sql) ? doneText(answer.changed) : "Done.";
  const total = answer.more ? undefined : answer.rows.length;
  return shown(answer, workspace, total, "there are more: add up or choose in the statement");
}

/** The first rows of a result, and where all of them are. `total` is undefined if not known. */
async function shown(
  result: Pick<QueryResult, "columns" | "rows">,
  workspace: Workspace,
  total: number | undefined,
  rest: string,
): Promise<string> {
  const table = textTable(result, shownRows);
  const { length } = result.rows;
  if (total !== undefined && total <= shownRows && length === total)
    return `${table}\n[${total} ${total === 1 ? "row" : "rows"}]`;
  const path = await workspace.spill("result.csv", csvText(result));
  const kept = length === total ? `all: ${path}` : `the first ${length} of them: ${path}; ${rest}`;
  return `${table}\n[${total ?? `more than ${length}`} rows, ${Math.min(shownRows, length)} shown; ${kept}]`;
}

const reading = /^\s*(?:select|with|from|describe|summarize|show|explain|values|pivot|unpivot|table)\b/i;
const changing =
  /\b(?:copy|create|insert|update|delete|drop|alter|attach|detach|export|import|merge|truncate|call|set|use|load|install|checkpoint|vacuum|nextval|pragma)\b|;\s*\S/i;

/** What a quote may stand in without beginning or ending a text, or be written within one. */
const unclearQuotes = /\$|--|\/\*|\\/;
const texts = /'[^']*'|"[^"]*"/g;

/**
 * The effect of repeating a statement. Any word that could change something makes it `once`, even
 * within a text where it is not plain what is text.
 */
export function sqlEffect(sql: string): Effect {
  const words = unclearQuotes.test(sql) ? sql : sql.replaceAll(texts, "''");
  return reading.test(sql) && !changing.test(words) ? "pure" : "once";
}
