import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { checkCells, type ForeignTable, type ForeignValue, textCounter } from "./foreign-table.ts";

const everyRows = 1000;
const moment = /^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$/;

/** Whether a file starts as SQLite files do. */
export async function isSqlite(path: string): Promise<boolean> {
  return (await Bun.file(path).slice(0, 15).text()) === "SQLite format 3";
}

/**
 * The names of its tables. Its views are left out: computing one may never end, and could not be
 * interrupted.
 */
export function sqliteTables(path: string): string[] {
  using database = open(path);
  const sql =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
  return database
    .query<{ name: string }, []>(sql)
    .all()
    .map(({ name }) => name);
}

/**
 * One complete table. Columns of texts that are all dates are returned as dates. `goOn` is called
 * every thousand rows and stops the reading by throwing.
 */
export function readSqliteTable(path: string, table: string, goOn: () => void): ForeignTable {
  using database = open(path);
  using statement = database.prepare<Record<string, ForeignValue>, []>(
    `SELECT * FROM "${table.replaceAll('"', '""')}"`,
  );
  // Keeps integers beyond 2^53 exact.
  statement.safeIntegers(true);
  const columns = statement.columnNames;
  const rows: ForeignValue[][] = [];
  const countText = textCounter(table);
  for (const record of statement.iterate()) {
    if (rows.length % everyRows === 0) goOn();
    checkCells(rows.length, columns.length, table);
    const row = columns.map((name) => record[name] ?? null);
    countText(row);
    rows.push(row);
  }
  for (const index of columns.keys()) datesOf(rows, index);
  return { columns, rows };
}

/**
 * Opens read-only and, when nobody else has the file open, without the extra files that SQLite puts
 * beside it.
 */
function open(path: string): Database {
  const uri = `${pathToFileURL(path).href}${existsSync(`${path}-wal`) ? "" : "?immutable=1"}`;
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
  const database = new Database(uri, flags);
  database.run("PRAGMA trusted_schema = OFF");
  return database;
}

function datesOf(rows: ForeignValue[][], index: number): void {
  const texts = rows.map((row) => row[index] ?? null);
  if (!texts.some((value) => value !== null)) return;
  const dates = texts.map((value) => (value === null ? null : dateIn(value)));
  if (dates.includes(undefined)) return;
  for (const [at, row] of rows.entries()) row[index] = dates[at] ?? null;
}

/**
 * The date that a text says; undefined when it says none, or one that no calendar has, which would
 * become another.
 */
function dateIn(value: ForeignValue): Date | undefined {
  if (typeof value !== "string" || !moment.test(value)) return undefined;
  const date = new Date(`${value.replace(" ", "T")}${value.length > 10 ? "Z" : ""}`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value.slice(0, 10));
  return isReal ? date : undefined;
}
