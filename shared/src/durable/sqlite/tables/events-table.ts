import type { Database } from "bun:sqlite";
import type { StoredEvent } from "../../../core/engine.ts";
import { filesOf } from "../../../core/event-files.ts";
import type { RunEvent } from "../../../core/run.ts";
import type { Moment } from "../run-clock.ts";
import type { FilesTable } from "./files-table.ts";
import type { UsageTable } from "./usage-table.ts";

/**
 * Statements over `events`: one gapless sequence per run, whose last number is in the run's row.
 * Files that an event refers to become files of the run's principal, and what it reports as used
 * counts for that principal.
 */
export function eventsTable(db: Database, files: FilesTable, usage: UsageTable) {
  const number = db.query<{ last_event: number }, [number, number, number]>(
    "UPDATE runs SET last_event = last_event + ?, updated_at = ? WHERE n = ? RETURNING last_event",
  );
  const insert = db.query<null, [number, number, number, string]>(
    "INSERT INTO events (run, seq, at, event) VALUES (?, ?, ?, ?)",
  );
  const after = db.query<{ seq: number; at: number; event: string }, [number, number, number]>(
    "SELECT seq, at, event FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
  );
  return {
    /** Returns the last event's number, or 0 if there was nothing to append. */
    append(run: number, events: readonly RunEvent[], { wall }: Moment): number {
      if (events.length === 0) return 0;
      const last = number.get(events.length, wall, run)?.last_event;
      if (last === undefined) throw new Error("Events need a run.");
      let seq = last - events.length;
      for (const event of events) {
        insert.run(run, ++seq, wall, JSON.stringify(event));
        for (const file of filesOf(event)) files.insert(run, file);
        usage.add(run, event, wall);
      }
      return last;
    },
    after(run: { readonly n: number; readonly id: string }, seq: number, limit: number): StoredEvent[] {
      return after.all(run.n, seq, limit).map((row) => ({
        runId: run.id,
        seq: row.seq,
        at: row.at,
        event: JSON.parse(row.event),
      }));
    },
  };
}
