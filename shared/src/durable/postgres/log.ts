import { AppError } from "../../core/errors.ts";
import { isObject, type Json } from "../../core/json.ts";
import { type RunStatus, type StoredEvent, terminalStatuses } from "../../core/runs/engine.ts";
import type { LogPage, RunLog } from "../follow.ts";
import type { Database } from "./database.ts";
import type { News } from "./news.ts";
import type { SharedProgress } from "./shared-progress.ts";

type EventRow = { readonly seq: string | null; readonly at: string; readonly event: string };

/** Kept small: a stalled follower holds its page, which adds up with many readers. */
const longestPage = { events: 128, characters: 32 * 1024 };

/** Stored events after `after`, up to `last`; rejects with `not_found`. */
export async function eventsOf(
  database: Database,
  runId: string,
  after: number,
  last: number,
): Promise<readonly StoredEvent[]> {
  const rows = await database.query<EventRow>(
    `SELECT seq, at, event FROM runs LEFT JOIN events ON run = n AND seq > $2::bigint AND seq <= $3::bigint
     WHERE id = $1 ORDER BY seq`,
    [runId, after, last],
  );
  if (rows.length === 0) throw missing(runId);
  return rows.flatMap((row) => storedEvent(runId, row));
}

/** See Engine.recorded. */
export async function recordedOf(database: Database, runId: string, field: string): Promise<readonly Json[]> {
  // Its JSON functions refuse texts with a NUL, so it only finds where the field may be.
  const rows = await database.query<{ out: string | null }>(
    `SELECT journal.out FROM runs
     LEFT JOIN journal ON run = n AND state = 'done' AND strpos(journal.out, $2) > 0 WHERE id = $1`,
    [runId, `${JSON.stringify(field)}:`],
  );
  if (rows.length === 0) throw missing(runId);
  return rows.flatMap(({ out }) => {
    const result: Json = JSON.parse(out ?? "null");
    return isObject(result) && Object.hasOwn(result, field) ? [(result[field] as Json | undefined) ?? null] : [];
  });
}

/** What following a run needs. */
export type LogDeps = {
  readonly database: Database;
  readonly news: News;
  readonly shared: Pick<SharedProgress, "follow">;
};

/** The log of a run in the database. */
export function logOf({ database, news, shared }: LogDeps, runId: string): RunLog {
  return {
    async open() {
      await news.listen();
      return shared.follow(runId);
    },
    async read(last, reached) {
      const page = await pageOf(database, runId, last);
      reached(page.end);
      return page;
    },
  };
}

async function pageOf(database: Database, runId: string, after: number): Promise<LogPage> {
  const rows = await database.query<EventRow & { status: RunStatus; end: string }>(
    `SELECT status, last_event AS end, seq, at, event FROM run_rows LEFT JOIN LATERAL (
       SELECT seq, at, event, sum(length(event)) OVER (ORDER BY seq) - length(event) AS before FROM (
         SELECT seq, at, event FROM events WHERE run = n AND seq > $2::bigint
         ORDER BY seq LIMIT ${longestPage.events}) AS next
     ) AS page ON before < ${longestPage.characters} WHERE id = $1 ORDER BY seq`,
    [runId, after],
  );
  const [first] = rows;
  if (first === undefined) throw missing(runId);
  return {
    hasEnded: terminalStatuses.includes(first.status),
    end: Number(first.end),
    events: rows.flatMap((row) => storedEvent(runId, row)),
  };
}

function storedEvent(runId: string, { seq, at, event }: EventRow): StoredEvent[] {
  return seq === null ? [] : [{ runId, seq: Number(seq), at: Number(at), event: JSON.parse(event) }];
}

function missing(runId: string): AppError {
  return new AppError("not_found", `There is no run ${runId}.`);
}
