import type { Database } from "bun:sqlite";
import { filesOf } from "../../../core/events/event-files.ts";
import type { StoredEvent } from "../../../core/runs/engine.ts";
import type { RunEvent } from "../../../core/runs/run.ts";
import type { Moment } from "../run-clock.ts";
import type { FilesTable } from "./files-table.ts";
import type { UsageTable } from "./usage-table.ts";
import type { WatchersTable } from "./watchers-table.ts";

/**
 * Statements over `events`: one gapless sequence per run, whose last number is in the run's row.
 * Files that an event refers to become files of the run's principal, what it reports as used
 * counts for that principal, and runs that watch this one are signaled.
 */
export function eventsTable(
  db: Database,
  { files, usage, watchers }: { files: FilesTable; usage: UsageTable; watchers: WatchersTable },
) {
  const number = db.query<{ last_event: number }, [number, number, number]>(
    "UPDATE runs SET last_event = last_event + ?, updated_at = ? WHERE n = ? RETURNING last_event",
  );
  const insert = db.query<null, [number, number, number, string]>(
    "INSERT INTO events (run, seq, at, event) VALUES (?, ?, ?, ?)",
  );
  const after = db.query<EventRow, [number, number, number]>(
    "SELECT seq, at, event FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT +?",
  );
  const put = (run: number, events: readonly RunEvent[], last: number, wall: number): string[] => {
    let seq = last - events.length;
    return events.map((event) => {
      const text = JSON.stringify(event);
      insert.run(run, ++seq, wall, text);
      for (const file of filesOf(event)) files.insert(run, file);
      usage.add(run, event, wall);
      return text;
    });
  };
  return {
    /** Stores what a new run begins with, whose number its row has; returns it as it is stored. */
    first: (run: number, events: readonly RunEvent[], { wall }: Moment) => put(run, events, events.length, wall),
    /** Stores a run's last event under this number, which its row has already. */
    last(run: number, event: RunEvent, seq: number, now: Moment): void {
      put(run, [event], seq, now.wall);
      watchers.signal(run, now);
    },
    /** Returns the last event's number, or 0 if there was nothing to append. */
    append(run: number, events: readonly RunEvent[], now: Moment): number {
      if (events.length === 0) return 0;
      const last = number.get(events.length, now.wall, run)?.last_event;
      if (last === undefined) throw new Error("Events need a run.");
      put(run, events, last, now.wall);
      watchers.signal(run, now);
      return last;
    },
    after(run: RunKey, seq: number, limit: number): StoredEvent[] {
      return after.all(run.n, seq, limit).map((row) => storedEvent(run, row));
    },
    /** The next events, as many as a page has room for; none only if there are none. */
    page(run: RunKey & { readonly last_event: number }, seq: number): StoredEvent[] {
      const events: StoredEvent[] = [];
      let characters = 0;
      const isShort = run.last_event - seq <= fewEvents;
      for (const row of isShort ? after.all(run.n, seq, fewEvents) : after.iterate(run.n, seq, longestPage.events)) {
        if (characters >= longestPage.characters) break;
        events.push(storedEvent(run, row));
        characters += row.event.length;
      }
      return events;
    },
  };
}

type RunKey = { readonly n: number; readonly id: string };
type EventRow = { readonly seq: number; readonly at: number; readonly event: string };

/** Kept small: a stalled follower holds its page, which adds up with many readers. */
const longestPage = { events: 128, characters: 32 * 1024 };

/** Up to this many are read in one go, which costs less than row by row. */
const fewEvents = 8;

function storedEvent({ id }: RunKey, { seq, at, event }: EventRow): StoredEvent {
  return { runId: id, seq, at, event: JSON.parse(event) };
}
