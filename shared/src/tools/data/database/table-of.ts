import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { foreignName } from "../foreign/foreign-name.ts";

const longestLine = 1024 * 1024;
/** The longest that the database reads, without its end. */
const longestRow = 2_000_000;
/** How much is looked through for lines that are longer. */
const looked = 8 * longestRow;
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
    if (bytes > longestRow && isDelimited.test(path) && hasLongLine(await beginningOf(file.handle, bytes)))
      throw new AppError("too_large", `A line of ${path} is longer than 2 MB: this is not a table that can be read.`);
  }
  const name = quoted(relative, "'");
  return { table: name, bytes, holder: undefined };
}

async function beginningOf(handle: FileHandle, bytes: number): Promise<Buffer> {
  const most = Math.min(bytes, looked);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(most), 0, most, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * Whether a line is longer than the database reads. It would find that out itself, after it had
 * tried for seconds, on every processor, what form such a line may have.
 */
function hasLongLine(beginning: Buffer): boolean {
  for (let from = 0; from + longestRow < beginning.length; ) {
    const within = beginning.subarray(from, from + longestRow + 1);
    const end = Math.max(within.lastIndexOf(10), within.lastIndexOf(13));
    if (end < 0) return true;
    from += end + 1;
  }
  return false;
}

/** A text or a name quoted for SQL. */
export function quoted(text: string, mark: "'" | '"'): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}
