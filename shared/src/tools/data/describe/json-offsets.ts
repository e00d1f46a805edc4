import { AppError } from "../../../core/errors.ts";
import type { QueryResult } from "../database/database-protocol.ts";
import { cellText } from "../database/result-text.ts";
import type { ColumnProfile } from "./oddity.ts";

const jsonFile = /\.(?:json|jsonl|ndjson)(?:\.gz|\.zst)?'$/i;
/** An offset that moves the time: not Z, and not zero. */
const moved = /:\d{2}(?:\.\d+)?\s?[-+](?!00(?::?00)?$)\d{2}(?::?\d{2})?$/;
const rowsLookedAt = 1_000;

/**
 * What is said of times in a JSON file that were written with an offset and are read as UTC, of
 * which their column shows no trace: one asked for its days gives those of London.
 */
export async function movedTimes(
  query: (sql: string) => Promise<QueryResult>,
  table: string,
  columns: readonly ColumnProfile[],
): Promise<string[]> {
  const times = columns.filter(({ name, type }) => type === "TIMESTAMP" && /^[\w ]+$/.test(name));
  if (!jsonFile.test(table) || times.length === 0) return [];
  const written = times.map(({ name }) => `max(json ->> '$."${name}"')`);
  const [row = []] = await firstRows(
    query,
    `SELECT ${written.join(", ")} FROM (FROM read_json_objects(${table}) LIMIT ${rowsLookedAt})`,
  );
  return times.flatMap(({ name }, at) => {
    const value = cellText(row[at] ?? null);
    const column = name.includes(" ") ? `"${name}"` : name;
    return moved.test(value)
      ? [
          `${name}: read in UTC, though the file has it with an offset, as '${value}': a day of a zone is (${column} AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin')::DATE`,
        ]
      : [];
  });
}

/** None if the file cannot be read as objects. */
async function firstRows(query: (sql: string) => Promise<QueryResult>, sql: string): Promise<QueryResult["rows"]> {
  try {
    return (await query(sql)).rows;
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
