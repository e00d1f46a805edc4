import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  DOUBLE,
  DuckDBBlobValue,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBType,
  type DuckDBValue,
  TIME,
  TIMESTAMP,
  VARCHAR,
} from "@duckdb/node-api";
import type { ForeignTable, ForeignValue } from "./foreign-table.ts";

const chunkRows = 2048;
const dayMs = 86_400_000;
/** A workbook stores a time of day as a time on its day zero. */
const [dayNought, dayOne] = [Date.UTC(1899, 11, 30), Date.UTC(1900, 0, 1)];
const [leastInteger, greatestInteger] = [-(2n ** 63n), 2n ** 63n - 1n];

/** How DuckDB stores a column: with the type that all its values share, else as text. */
type Keeping = { readonly type: DuckDBType; readonly keep: (value: NonNullable<ForeignValue>) => DuckDBValue };

/**
 * Stores a table in the database under this name, replacing an existing one. Once it is whole it is
 * marked with this text.
 */
export async function storeTable(
  connection: DuckDBConnection,
  name: string,
  { columns, rows }: ForeignTable,
  mark: string,
): Promise<void> {
  const keepings = columns.map((_, index) => keepingOf(rows, index));
  const definitions = columns.map((column, index) => `${identifier(column)} ${keepings[index]?.type}`);
  await connection.run(`CREATE OR REPLACE TABLE ${identifier(name)} (${definitions.join(", ")})`);
  // The library would take a table of this name in the first schema.
  const [[catalog, schema] = []] = (
    await connection.runAndReadAll("SELECT current_database(), current_schema()")
  ).getRows();
  const appender = await connection.createAppender(name, String(schema), String(catalog));
  const types = keepings.map(({ type }) => type);
  for (let from = 0; from < rows.length; from += chunkRows) {
    const part = rows.slice(from, from + chunkRows);
    const chunk = DuckDBDataChunk.create(types, part.length);
    for (const [index, { keep }] of keepings.entries()) {
      const values = part.map((row) => row[index] ?? null);
      chunk.setColumnValues(
        index,
        values.map((value) => (value === null ? null : keep(value))),
      );
    }
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
  await connection.run(`COMMENT ON TABLE ${identifier(name)} IS '${mark.replaceAll("'", "''")}'`);
}

/** What the table that a statement finds under this name is marked with; undefined if nothing. */
export async function markedAs(connection: DuckDBConnection, name: string): Promise<string | undefined> {
  const found = await connection.runAndReadAll(
    `SELECT comment FROM duckdb_tables() WHERE lower(table_name) = lower($1)
     AND database_name = current_database() AND schema_name = current_schema()`,
    [name],
  );
  const mark = found.getRows()[0]?.[0];
  return typeof mark === "string" ? mark : undefined;
}

/** A name in double quotes. */
function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function keepingOf(rows: ForeignTable["rows"], index: number): Keeping {
  const kinds = new Set<string>();
  for (const row of rows) {
    const value = row[index] ?? null;
    if (value !== null) kinds.add(kindOf(value));
  }
  const all = [...kinds];
  const only = (...allowed: readonly string[]) => all.length > 0 && all.every((kind) => allowed.includes(kind));
  if (only("integer")) return { type: BIGINT, keep: (value) => BigInt(value as number | bigint) };
  if (only("integer", "real")) return { type: DOUBLE, keep: Number };
  if (only("boolean")) return { type: BOOLEAN, keep: Boolean };
  if (only("day"))
    return { type: DATE, keep: (value) => new DuckDBDateValue(Math.floor((value as Date).getTime() / dayMs)) };
  if (only("time"))
    return { type: TIME, keep: (value) => new DuckDBTimeValue(BigInt(timeOfDay(value as Date)) * 1000n) };
  if (only("day", "moment", "time"))
    return { type: TIMESTAMP, keep: (value) => new DuckDBTimestampValue(BigInt((value as Date).getTime()) * 1000n) };
  if (only("blob")) return { type: BLOB, keep: (value) => new DuckDBBlobValue(value as Uint8Array) };
  return { type: VARCHAR, keep: cellText };
}

function kindOf(value: NonNullable<ForeignValue>): string {
  if (typeof value === "bigint") return value >= leastInteger && value <= greatestInteger ? "integer" : "real";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : "real";
  if (value instanceof Date) return kindOfDate(value.getTime());
  return value instanceof Uint8Array ? "blob" : typeof value;
}

function kindOfDate(at: number): string {
  if (at % dayMs === 0) return "day";
  return at > dayNought && at < dayOne ? "time" : "moment";
}

function timeOfDay(value: Date): number {
  return ((value.getTime() % dayMs) + dayMs) % dayMs;
}

function cellText(value: NonNullable<ForeignValue>): string {
  if (value instanceof Date)
    return value
      .toISOString()
      .replace("T", " ")
      .replace(/(?: 00:00:00)?\.000Z$/, "");
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}
