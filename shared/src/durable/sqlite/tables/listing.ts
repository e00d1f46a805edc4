import type { Database } from "bun:sqlite";
import type { ListFilter } from "../../../core/runs/engine.ts";
import { cursorAfter, placeOf } from "../../../core/runs/list-cursor.ts";
import type { RunRow } from "./runs-table.ts";
import { askerOf } from "./schema.ts";

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
    /** With `among`, lists only these runs. */
    page(filter: ListFilter, among?: readonly number[]): { rows: RunRow[]; total: number; nextCursor?: string } {
      const conditions = conditionsOf(filter, among);
      const values = conditions.map((condition) => condition.value);
      const place = filter.cursor === undefined ? [] : placeOf(filter.cursor);
      const parts = partsOf(filter);
      const limit = filter.limit + 1;
      const where = ({ sql }: ListPart) => [sql, ...conditions.map((condition) => condition.sql)].join(" AND ");
      const pages = parts.map((part) => {
        const below = filter.cursor === undefined ? "" : ` AND (${part.updatedAt}, id) < (?, ?)`;
        return `SELECT * FROM (SELECT * FROM runs WHERE ${where(part)}${below} ORDER BY ${part.updatedAt} DESC, id DESC LIMIT +?)`;
      });
      const rows = db
        .query<RunRow, (string | number)[]>(`${pages.join(" UNION ALL ")} ORDER BY updated_at DESC, id DESC LIMIT +?`)
        .all(...parts.flatMap(() => [...values, ...place, limit]), limit);
      const last = rows[filter.limit - 1];
      const isWhole = filter.cursor === undefined && rows.length <= filter.limit;
      const count = () => {
        const each = parts.map((part) => `SELECT 1 FROM runs WHERE ${where(part)}`);
        return db
          .query<{ total: number }, (string | number)[]>(
            `SELECT count(*) AS total FROM (${each.join(" UNION ALL ")} LIMIT +?)`,
          )
          .get(...parts.flatMap(() => values), filter.countAtMost ?? -1)?.total;
      };
      return {
        rows: rows.slice(0, filter.limit),
        total: isWhole ? rows.length : (count() ?? 0),
        ...(rows.length > filter.limit && last !== undefined
          ? { nextCursor: cursorAfter({ updatedAt: last.updated_at, id: last.id }) }
          : {}),
      };
    },
  };
}

type ListPart = { readonly sql: string; readonly updatedAt: string };

/**
 * A principal's list is merged of those that ended, which have an index in its order, and the few
 * others: these are sorted, for which the plus keeps SQLite from walking through everybody's.
 */
function partsOf({ principal, contextId }: ListFilter): readonly ListPart[] {
  if (principal === undefined || contextId !== undefined) return [{ sql: "1", updatedAt: "updated_at" }];
  return [
    { sql: "status IN ('completed', 'failed', 'canceled')", updatedAt: "updated_at" },
    { sql: "status IN ('queued', 'running', 'waiting', 'paused')", updatedAt: "+updated_at" },
  ];
}

function conditionsOf(filter: ListFilter, among: readonly number[] | undefined): Condition[] {
  const kinds = filter.kinds === undefined ? undefined : JSON.stringify(filter.kinds);
  const statuses = filter.statuses === undefined ? undefined : JSON.stringify(filter.statuses);
  const all: { readonly sql: string; readonly value: string | number | undefined }[] = [
    { sql: "n IN (SELECT value FROM json_each(?))", value: among && JSON.stringify(among) },
    { sql: "principal = ?", value: filter.principal },
    { sql: "kind = ?", value: filter.kind },
    { sql: "kind IN (SELECT value FROM json_each(?))", value: kinds },
    { sql: "context_id = ?", value: filter.contextId },
    { sql: "status IN (SELECT value FROM json_each(?))", value: statuses },
    { sql: "waiting_reason = ?", value: filter.waitingReason },
    { sql: "error ->> '$.code' = ?", value: filter.errorCode },
    { sql: "updated_at >= ?", value: filter.updatedSince },
    { sql: `? != ${askedHere}`, value: filter.asked === undefined ? undefined : 1 },
  ];
  return all.flatMap(({ sql, value }) => (value === undefined ? [] : [{ sql, value }]));
}
