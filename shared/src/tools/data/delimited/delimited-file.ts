import { AppError } from "../../../core/errors.ts";
import type { Column, QueryResult } from "../database/database-protocol.ts";

/** Asks the database. */
export type Query = (sql: string) => Promise<QueryResult>;

/**
 * A file of lines with delimiters: what `read_csv` takes to read its table, and how the database
 * found its values written.
 */
export type DelimitedFile = {
  readonly source: string;
  /** Lines above the table: titles and the like. */
  readonly headings: number;
  readonly delimiter: string;
  /** The forms in which dates, and times of dates, were read; undefined for ISO 8601 and none. */
  readonly dates: { readonly DATE: string | undefined; readonly TIMESTAMP: string | undefined };
};

/** A look at a file by its quoted name, with the columns it has when its first line names them. */
export async function lookAtDelimited(
  query: Query,
  name: string,
  columns: readonly Column[],
): Promise<DelimitedFile | undefined> {
  return await orNothing(look());

  async function look(): Promise<DelimitedFile> {
    const headings = await headingLines(query, name, columns);
    const source = headings === 0 ? name : `${name}, skip = ${headings}`;
    const sniffed = await query(`SELECT Delimiter, DateFormat, TimestampFormat FROM sniff_csv(${source})`);
    const [delimiter, day, time] = (sniffed.rows[0] ?? []).map((cell) => (cell === null ? undefined : String(cell)));
    return { source, headings, delimiter: delimiter ?? "", dates: { DATE: day, TIMESTAMP: time } };
  }
}

/** What a look beside the question finds; undefined if the database cannot look. */
export async function orNothing<T>(look: Promise<T>): Promise<T | undefined> {
  return await look.catch((error: unknown) => {
    if (error instanceof AppError && error.code === "rejected") return undefined;
    throw error;
  });
}

const maxHeadings = 20;
/** The database's names for columns that the first line does not name. */
const unnamed = /^column\d+$/;
const delimiters = [",", ";", "\t", "|"];
const mostlyFilled = 0.8;

/**
 * How many lines stand above the one that names the columns; 0 if the first does, and where it is
 * not plain which one does.
 */
async function headingLines(query: Query, name: string, columns: readonly Column[]): Promise<number> {
  const missing = columns.filter((column) => unnamed.test(column.name)).length;
  if (missing * 2 <= columns.length) return 0;
  // No file has this delimiter, so each line is one value.
  const whole = `auto_detect = false, delim = '\u0001', quote = '', escape = '', header = false, columns = {'line': 'VARCHAR'}`;
  const { rows } = await query(`FROM read_csv(${name}, ${whole}) LIMIT ${maxHeadings + 1}`);
  const lines = rows.map(([line]) => String(line ?? ""));
  const at = lines.findIndex((line) => delimiters.some((sign) => namesColumns(line.split(sign), columns.length)));
  if (at < 1) return 0;
  const found = await query(`FROM read_csv(${name}, skip = ${at}) LIMIT 1`);
  const left = found.columns.filter((column) => unnamed.test(column.name)).length;
  return found.columns.length === columns.length && left < missing ? at : 0;
}

function namesColumns(cells: readonly string[], count: number): boolean {
  const filled = cells.filter((cell) => cell.trim() !== "");
  return (
    cells.length === count &&
    filled.length >= Math.max(2, count * mostlyFilled) &&
    filled.every((cell) => /\p{L}/u.test(cell))
  );
}

/** The table of the file as a FROM clause names it, with more options of `read_csv`. */
export function readText({ source }: DelimitedFile, options: readonly string[] = []): string {
  return `read_csv(${[source, ...options].join(", ")})`;
}
