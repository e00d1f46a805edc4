import type { Database } from "bun:sqlite";
import * as z from "zod";
import type { ListFilter } from "../../../core/engine.ts";
import { AppError } from "../../../core/errors.ts";
import type { RunRow } from "./runs-table.ts";
import { askerOf } from "./schema.ts";

/** The last run of a page: the next page starts after it. */
const cursorSchema = z.tuple([z.int(), z.string()]);

/**
 * Only a run of the same principal asked: otherwise anyone could find out whether another's run
 * exists, by sending a message under its id.
 */
export const askedHere = `EXISTS (SELECT 1 FROM runs AS asker
  WHERE asker.principal = runs.principal AND asker.id = ${askerOf("runs.")})`;

type Condition = { readonly sql: string; readonly value: string | number };

/**
 * Pages over `runs`, newest `updatedAt` first. A run that changes between two pages moves to the
 * front.
 */
export function listing(db: Database) {
  return {
    page(filter: ListFilter): { rows: RunRow[]; total: number; nextCursor?: string } {
      const conditions = conditionsOf(filter);
      const values = conditions.map((condition) => condition.value);
      const where = conditions.map((condition) => ` AND ${condition.sql}`).join("");
      const count = db.query<{ total: number }, typeof values>(`SELECT count(*) AS total FROM runs WHERE 1${where}`);
      const [below, place] =
        filter.cursor === undefined ? ["", []] : [" AND (updated_at, id) < (?, ?)", decodeCursor(filter.cursor)];
      const rows = db
        .query<RunRow, (string | number)[]>(
          `SELECT * FROM runs WHERE 1${where}${below} ORDER BY updated_at DESC, id DESC LIMIT ?`,
        )
        .all(...values, ...place, filter.limit + 1);
      const last = rows[filter.limit - 1];
      const isWhole = filter.cursor === undefined && rows.length <= filter.limit;
      return {
        rows: rows.slice(0, filter.limit),
        total: isWhole ? rows.length : (count.get(...values)?.total ?? 0),
        ...(rows.length > filter.limit && last !== undefined ? { nextCursor: encodeCursor(last) } : {}),
      };
    },
  };
}

function conditionsOf(filter: ListFilter): Condition[] {
  const kinds = filter.kinds === undefined ? undefined : JSON.stringify(filter.kinds);
  const statuses = filter.statuses === undefined ? undefined : JSON.stringify(filter.statuses);
  const all: { readonly sql: string; readonly value: string | number | undefined }[] = [
    { sql: "principal = ?", value: filter.principal },
    { sql: "kind = ?", value: filter.kind },
    { sql: "kind IN (SELECT value FROM json_each(?))", value: kinds },
    { sql: "context_id = ?", value: filter.contextId },
    { sql: "status IN (SELECT value FROM json_each(?))", value: statuses },
    { sql: "waiting_reason = ?", value: filter.waitingReason },
    { sql: "updated_at >= ?", value: filter.updatedSince },
    { sql: `? != ${askedHere}`, value: filter.asked === undefined ? undefined : 1 },
  ];
  return all.flatMap(({ sql, value }) => (value === undefined ? [] : [{ sql, value }]));
}

function encodeCursor(row: RunRow): string {
  return Buffer.from(JSON.stringify([row.updated_at, row.id])).toString("base64url");
}

function decodeCursor(cursor: string): readonly [number, string] {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch (cause) {
    throw new AppError("invalid_input", "The cursor does not come from this list.", { cause });
  }
}
