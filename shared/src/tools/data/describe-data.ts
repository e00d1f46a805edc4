import * as z from "zod";
import { AppError } from "../../errors.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { openFile } from "../../workspace/workspace-file.ts";
import { defineTool, type Tool } from "../tool.ts";
import type { QueryResult } from "./database-protocol.ts";
import type { Databases, QueryOptions } from "./databases.ts";
import { cellText, textTable } from "./text-table.ts";

const sampleRows = 5;
const mostColumns = 100;
const longestLine = 1024 * 1024;
const known = /\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet)(?:\.(?:gz|zst))?$/i;

const input = z.strictObject({
  path: z.string().min(1).describe("A CSV, TSV, Parquet or JSON file of the workspace, also gzipped."),
});

const description = `Describes a data file: number of rows, and for each column its type, share of missing values, number of distinct
values (an estimate), least and greatest value, mean; with the first rows. Reads the whole file, fast.`;

/** The `describe_data` tool. */
export function describeData({ databases }: { readonly databases: Databases }): Tool {
  const tool = defineTool({
    name: "describe_data",
    description: description.replaceAll("\n", " "),
    input,
    effect: "pure",
    async run({ path }, { workspace, signal }) {
      const { table, bytes } = await tableOf(workspace, path);
      const options: QueryOptions = { signal, timeoutMs: 120_000 };
      const sample = await databases.query(workspace, `FROM ${table} LIMIT ${sampleRows}`, options);
      const columns = sample.columns.slice(0, mostColumns).map(({ name }) => quoted(name, '"'));
      const summary = await databases.query(workspace, `SUMMARIZE SELECT ${columns.join(", ")} FROM ${table}`, options);
      const profiles = profilesOf(summary);
      const left = sample.columns.length - columns.length;
      return [
        `${path}: ${profiles[0]?.count ?? 0} rows, ${sample.columns.length} columns, ${bytes} bytes`,
        "",
        "column | type | missing | distinct (about) | least | greatest | mean",
        ...profiles.map(profileLine),
        ...(left > 0 ? [`… ${left} more columns, not described; ask for them with sql_query: SUMMARIZE SELECT …`] : []),
        "",
        `First rows:\n${textTable(sample, sampleRows)}`,
      ].join("\n");
    },
  });
  return tool;
}

/** A file of the workspace as the FROM clause names it; rejects with what to do when it is none that can be a table. */
export async function tableOf(
  workspace: Workspace,
  path: string,
): Promise<{ readonly table: string; readonly bytes: number }> {
  await using file = await openFile(workspace, path);
  if (!known.test(path))
    throw new AppError(
      "unsupported",
      `${path} is not CSV, TSV, Parquet or JSON. Convert it first, for example with Python (openpyxl for Excel, sqlite3 for SQLite).`,
    );
  if (file.stats.size === 0) throw new AppError("invalid_input", `${path} is empty.`);
  if (!/\.(?:parquet|gz|zst)$/i.test(path) && !/\.json$/i.test(path)) {
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(longestLine), 0, longestLine, 0);
    if (bytesRead === longestLine && !buffer.includes(10) && !buffer.includes(13))
      throw new AppError(
        "too_large",
        `The first line of ${path} is longer than 1 MB: this is not a table that can be read.`,
      );
  }
  return { table: quoted(file.place.relative, "'"), bytes: file.stats.size };
}

function quoted(text: string, mark: "'" | '"'): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}

type Profile = Readonly<Record<string, unknown>>;

function profilesOf({ columns, rows }: QueryResult): Profile[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])));
}

function profileLine(profile: Profile): string {
  const cells = [
    profile.column_name,
    profile.column_type,
    `${profile.null_percentage} %`,
    profile.approx_unique,
    profile.min,
    profile.max,
    profile.avg ?? "",
  ];
  return cells.map(cellText).join(" | ");
}
