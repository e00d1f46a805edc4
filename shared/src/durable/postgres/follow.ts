import {
  type FollowItem,
  type Following,
  type RunStatus,
  type StoredEvent,
  terminalStatuses,
} from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Live } from "../live.ts";
import type { Database } from "./database.ts";
import type { News } from "./news.ts";

type FollowDeps = { readonly database: Database; readonly live: Live; readonly news: News };
type EventRow = { readonly seq: string | null; readonly at: string; readonly event: string };

/** Little, because a stalled follower keeps its page, which adds up with many readers. */
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

/** Engine.follow: reads the log page by page and waits for news between pages. */
export function follow(deps: FollowDeps, runId: string, after: number, signal: AbortSignal): Following {
  const open = () => pages(deps, runId, after, signal);
  return {
    pages: open,
    async *[Symbol.asyncIterator]() {
      for await (const page of open()) for (const item of page) yield item;
    },
  };
}

async function* pages(
  { database, live, news }: FollowDeps,
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly FollowItem[], void> {
  const follower = live.follow(runId);
  try {
    await news.listen();
    for (let last = after; !signal.aborted; ) {
      const page = await pageOf(database, runId, last);
      follower.reached(page.end);
      const items: FollowItem[] = [];
      for (const event of page.events) {
        items.push(...follower.takeProgress(event.seq), { kind: "event", ...event });
        last = event.seq;
      }
      const isLast = last >= page.end;
      // What belongs behind an event that this page has not comes after that event.
      if (isLast && !page.hasEnded) items.push(...follower.takeProgress(last + 1));
      if (items.length > 0) yield items;
      if (!isLast) continue;
      if (page.hasEnded || !(await follower.news(signal))) return;
    }
  } finally {
    follower.leave();
  }
}

async function pageOf(database: Database, runId: string, after: number) {
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
