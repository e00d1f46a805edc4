import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { foreignName } from "../foreign/foreign-name.ts";

const longestLine = 1024 * 1024;
const known = /\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet)(?:\.(?:gz|zst))?$/i;
/** The name of a file of lines with delimiters. */
export const isDelimited = /\.(?:csv|tsv|txt)(?:\.(?:gz|zst))?$/i;
/** The name of such a file whose form the database does not tell by it. */
export const isPlainText = /\.txt(?:\.(?:gz|zst))?$/i;

/**
 * A data file as a FROM clause names it, and its size. `holder` is the workbook or SQLite file that
 * contains the sheet or table.
 */
export type TableSource = {
  readonly table: string;
  readonly bytes: number;
  readonly holder: string | undefined;
};

/**
 * A file of the workspace, or a sheet or table in one, to query; rejects with what to do when it
 * cannot be a table.
 */
export async function tableOf(workspace: Workspace, path: string): Promise<TableSource> {
  const foreign = foreignName(path);
  await using file = await openFile(workspace, foreign?.file ?? path);
  const { relative } = file.place;
  const bytes = file.stats.size;
  if (bytes === 0) throw new AppError("invalid_input", `${path} is empty.`);
  if (foreign) {
    const part = foreign.part === undefined ? "" : `/${foreign.part}`;
    return { table: quoted(relative + part, "'"), bytes, holder: relative };
  }
  if (!known.test(path))
    throw new AppError(
      "unsupported",
      `${path} is not CSV, TSV, Parquet, JSON, Excel (.xlsx) or SQLite (.sqlite, .db). Convert it first, for example with Python.`,
    );
  if (!/\.(?:parquet|gz|zst)$/i.test(path) && !/\.json$/i.test(path)) {
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(longestLine), 0, longestLine, 0);
    if (bytesRead === longestLine && !buffer.includes(10) && !buffer.includes(13))
      throw new AppError(
        "too_large",
        `The first line of ${path} is longer than 1 MB: this is not a table that can be read.`,
      );
  }
  const name = quoted(relative, "'");
  return { table: name, bytes, holder: undefined };
}

/** A text or a name quoted for SQL. */
export function quoted(text: string, mark: "'" | '"'): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}
