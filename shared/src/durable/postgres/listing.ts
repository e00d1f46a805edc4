import type { Engine, ListFilter } from "../../core/runs/engine.ts";
import { cursorAfter, placeOf } from "../../core/runs/list-cursor.ts";
import { recordOf } from "../run-row.ts";
import type { Database } from "./database.ts";
import type { RunRow } from "./run-row.ts";
import { candidates } from "./word-index.ts";

/**
 * Only a run of the same principal asked: otherwise anyone could find out whether another's run
 * exists, by sending a message under its id.
 */
const askedHere = `EXISTS (SELECT 1 FROM runs AS asker
  WHERE asker.principal = run_rows.principal AND asker.id = asker_of(run_rows.dedupe_key))`;

/** Engine.list: pages over the runs, newest `updatedAt` first. */
export async function list(database: Database, filter: ListFilter): ReturnType<Engine["list"]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  let where = conditionsOf(filter, bind, (items) => database.sql.array([...items], "TEXT"));
  const among = filter.words && (await candidates(database, filter.words));
  if (among !== undefined) where += ` AND n = ANY (${bind(database.sql.array([...among], "INT8"))})`;
  const counted = [...values];
  const { limit, cursor } = filter;
  let below = "";
  if (cursor !== undefined) {
    const [updatedAt, id] = placeOf(cursor);
    below = ` AND (updated_at, id) < (${bind(updatedAt)}::bigint, ${bind(id)})`;
  }
  const newest = `ORDER BY updated_at DESC, id DESC LIMIT ${bind(limit + 1)}`;
  const pages = partsOf(filter).map((part) => `(SELECT * FROM run_rows WHERE ${part} AND ${where}${below} ${newest})`);
  const rows = await database.query<RunRow>(`SELECT * FROM (${pages.join(" UNION ALL ")}) AS pages ${newest}`, values);
  const runs = rows.slice(0, limit).map(recordOf);
  const last = runs.at(-1);
  const isWhole = cursor === undefined && rows.length <= limit;
  const most = filter.countAtMost === undefined ? "" : ` LIMIT $${counted.push(filter.countAtMost)}`;
  const count = `SELECT count(*) AS total FROM (SELECT 1 FROM run_rows WHERE ${where}${most}) AS counted`;
  const total = isWhole ? rows.length : (await database.query<{ total: string }>(count, counted))[0]?.total;
  return {
    runs,
    total: Number(total),
    ...(rows.length > limit && last !== undefined ? { nextCursor: cursorAfter(last) } : {}),
  };
}

/**
 * Parts of a principal's list: those that ended have an index in its order, and the others are few.
 */
function partsOf({ principal, contextId }: ListFilter): readonly string[] {
  return principal === undefined || contextId !== undefined ? ["true"] : ["has_ended(status)", "NOT has_ended(status)"];
}

function conditionsOf(
  filter: ListFilter,
  bind: (value: unknown) => string,
  listOf: (items: readonly string[]) => unknown,
): string {
  const conditions = ["true"];
  const add = <T>(value: T | undefined, sql: (value: T) => string) => {
    if (value !== undefined) conditions.push(sql(value));
  };
  add(filter.principal, (value) => `principal = ${bind(value)}`);
  add(filter.kind, (value) => `kind = ${bind(value)}`);
  add(filter.kinds, (value) => `kind = ANY (${bind(listOf(value))})`);
  add(filter.contextId, (value) => `context_id = ${bind(value)}`);
  add(filter.statuses, (value) => `status = ANY (${bind(listOf(value))})`);
  add(filter.waitingReason, (value) => `waiting_reason = ${bind(value)}`);
  add(filter.errorCode, (value) => `starts_with(error, ${bind(`{"code":"${value}"`)})`);
  add(filter.updatedSince, (value) => `updated_at >= ${bind(value)}::bigint`);
  add(filter.asked, () => `NOT ${askedHere}`);
  return conditions.join(" AND ");
}
