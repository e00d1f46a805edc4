import * as z from "zod";
import { counted } from "../../core/text/counted.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { isFloat } from "./database/column-types.ts";
import type { FileRead, QueryResult } from "./database/database-protocol.ts";
import type { Databases } from "./database/databases.ts";
import { cellText, textTable } from "./database/result-text.ts";
import { quoted, type TableSource, tableOf } from "./database/table-of.ts";
import { sayThousands } from "./delimited/comma-numbers.ts";
import { findOddities } from "./describe/find-oddities.ts";
import { movedTimes } from "./describe/json-offsets.ts";
import type { ColumnProfile } from "./describe/oddity.ts";
import { type Profile, profileLines } from "./describe/profile-lines.ts";

/** Asks the database. */
type Query = (sql: string) => Promise<QueryResult>;

const sampleRows = 5;
const maxColumns = 200;
/** Those that are summed up by one query: it takes memory for each. */
const columnsAtOnce = 100;
const maxLines = 100;
const timeoutMs = 120_000;
/** With more rows, the distinct values are estimated. */
const maxCounted = 100_000;

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe(
      "A CSV, TSV, Parquet, JSON, Excel (.xlsx) or SQLite file; one of its sheets or tables as book.xlsx/Sheet 2.",
    ),
});

const description = `Describes a data file: number of rows, and for each column its type, share of missing values, number of distinct
values (an estimate above 100,000 rows), minimum, maximum, mean; anomalies (repeated rows, impossible, unreadable or disordered dates, numbers stored as text, mixed types,
blanks, outliers); the first rows. Of an Excel or SQLite file it lists the sheets or tables and describes one. Reads the whole file, fast.`;

/** The `describe_data` tool. */
export function describeData({ databases }: { readonly databases: Databases }): Tool {
  return defineTool({
    name: "describe_data",
    description: description.replaceAll("\n", " "),
    input,
    effect: "pure",
    async run({ path }, { workspace, signal }) {
      const source = await tableOf(workspace, path);
      const query: Query = (sql) => databases.query(workspace, sql, { signal, timeoutMs });
      const { table, among } = await onePart(query, source.table, source.holder);
      return [...among, ...(await describe(query, { ...source, table }, path))].join("\n");
    },
  });
}

/**
 * For a file with sheets or tables, the requested one, else the first, and the lines that list
 * them.
 */
async function onePart(
  query: Query,
  table: string,
  holder: string | undefined,
): Promise<{ readonly table: string; readonly among: readonly string[] }> {
  if (holder === undefined) return { table, among: [] };
  const { rows } = await query(`FROM ${quoted(`${holder}/*`, "'")}`);
  const parts = rows.map(([name]) => quoted(`${holder}/${String(name)}`, "'"));
  const named = parts.map((part, at) => (rows[at]?.[1] === true ? `${part} (hidden)` : part));
  const chosen = table === quoted(holder, "'") ? (parts[0] ?? table) : table;
  return {
    table: chosen,
    among: [`${holder} holds, as a query names them: ${named.join(", ")}`, `Here is ${chosen}.`, ""],
  };
}

async function describe(query: Query, { table, bytes }: TableSource, path: string): Promise<string[]> {
  const sample = await query(`FROM ${table} LIMIT ${sampleRows}`);
  const described = sample.columns.slice(0, maxColumns);
  const names = described.map(({ name }) => quoted(name, '"'));
  const finite = described.map(({ name, type }) => finiteOnly(quoted(name, '"'), type));
  const selected = finite.map((value, at) => `${value} AS ${names[at]}`);
  const estimated = await summarized(query, table, selected);
  const rows = Number(estimated[0]?.count ?? 0);
  const profiles = rows > maxCounted ? estimated : await countDistinct(query, table, { finite, profiles: estimated });
  const { lines, left } = profileLines(profiles, sample.columns.length, maxLines);
  const columns = profiles.map((profile) => columnProfile(profile, sample.files[0]?.dates));
  const odd = [
    ...sayThousands(sample),
    ...(await findOddities(query, table, { rows, columns, all: sample.columns.length })),
    ...(await movedTimes(query, table, columns)),
  ];
  const values = rows > maxCounted ? [] : await fewValues(query, table, { rows, columns });
  return [
    `${path}: ${counted(rows, "row")}, ${counted(sample.columns.length, "column")}, ${bytes} bytes`,
    ...sample.notes.map((note) => `Note: ${note}`),
    "",
    `column | type | missing | distinct${rows > maxCounted ? " (about)" : ""} | least | greatest | mean`,
    ...lines,
    ...(left > 0
      ? [`… ${counted(left, "more column")}, not described; ask for them with sql_query: SUMMARIZE SELECT …`]
      : []),
    ...values,
    "",
    odd.length === 0 ? "Nothing odd was found." : `Odd:\n${odd.map((line) => `- ${line}`).join("\n")}`,
    "",
    `First rows:\n${textTable(sample, sampleRows)}`,
  ];
}

/** The deviation of NaN is an error, and its mean says nothing. */
function finiteOnly(column: string, type: string): string {
  return isFloat(type) ? `CASE WHEN isfinite(${column}) THEN ${column} END` : column;
}

const maxValues = 12;
const maxListed = 8;

/**
 * The values of texts that have few, with how often each is there: spellings show that no rule
 * knows.
 */
async function fewValues(
  query: Query,
  table: string,
  { rows, columns }: { readonly rows: number; readonly columns: readonly ColumnProfile[] },
): Promise<string[]> {
  const named = columns.filter(
    ({ type, distinct }) => type === "VARCHAR" && distinct > 1 && distinct <= maxValues && rows > 2 * distinct,
  );
  const lines = named.slice(0, maxListed).map(async ({ name }) => {
    const column = quoted(name, '"');
    const counts = await query(
      `SELECT ${column}, count(*) FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1`,
    );
    const told = counts.rows.map(([value, count]) => `'${cellText(value)}' ${cellText(count)}`);
    return `Values of ${cellText(name)}: ${told.join(", ")}`;
  });
  return await Promise.all(lines);
}

async function summarized(query: Query, table: string, selected: readonly string[]): Promise<Profile[]> {
  const profiles: Profile[] = [];
  for (let at = 0; at < selected.length; at += columnsAtOnce) {
    const some = selected.slice(at, at + columnsAtOnce).join(", ");
    const { columns, rows } = await query(`SUMMARIZE SELECT ${some} FROM ${table}`);
    profiles.push(...rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))));
  }
  return profiles;
}

/**
 * The profiles with exact counts of distinct values: the estimate is far off when there are few.
 */
async function countDistinct(
  query: Query,
  table: string,
  { finite, profiles }: { readonly finite: readonly string[]; readonly profiles: readonly Profile[] },
): Promise<Profile[]> {
  const { rows } = await query(`SELECT ${finite.map((value) => `count(DISTINCT ${value})`).join(", ")} FROM ${table}`);
  return profiles.map((profile, index) => ({ ...profile, approx_unique: rows[0]?.[index] ?? profile.approx_unique }));
}

function columnProfile(profile: Profile, dates: FileRead["dates"] | undefined): ColumnProfile {
  const [low, high] = [Number(profile.q25 ?? Number.NaN), Number(profile.q75 ?? Number.NaN)];
  const type = String(profile.column_type);
  return {
    name: String(profile.column_name),
    type,
    distinct: Number(profile.approx_unique),
    quartiles: Number.isFinite(low + high) ? [low, high] : undefined,
    dateForm: type === "DATE" || type === "TIMESTAMP" ? dates?.[type] : undefined,
  };
}
