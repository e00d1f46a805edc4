import type { Database } from "bun:sqlite";
import type { Moment } from "../run-clock.ts";
import type { KnownRuns } from "./known-runs.ts";
import type { SignalsTable } from "./signals-table.ts";
import type { StatesTable } from "./states-table.ts";

/**
 * Statements over `watchers`: runs that get a signal, once, when another run has its next event.
 */
export function watchersTable(db: Database, signals: SignalsTable, states: StatesTable, knownRuns: KnownRuns) {
  const put = db.query<null, [number, number, string, string]>(
    "INSERT OR REPLACE INTO watchers (run, watcher, signal, id) VALUES (?, ?, ?, ?)",
  );
  const take = db.query<{ watcher: number; signal: string; id: string }, [number]>(
    "DELETE FROM watchers WHERE run = ? RETURNING watcher, signal, id",
  );
  const goesOn = db.query<{ id: string }, [number]>(
    "SELECT id FROM runs WHERE n = ? AND status NOT IN ('completed', 'failed', 'canceled')",
  );
  let signaled: string[] = [];
  const deliver = (watcher: number, signal: string, id: string, now: Moment) => {
    const run = goesOn.get(watcher);
    if (run === null || !signals.insert(watcher, signal, id, "null")) return;
    states.wake(watcher, signal, now);
    signaled.push(run.id);
  };
  return {
    /** Has the watcher signaled at the run's next event. */
    put(run: number, watcher: number, signal: string, id: string): void {
      knownRuns.forget(run);
      put.run(run, watcher, signal, id);
    },
    /** Delivers a signal without a payload, unless the watcher had it or has ended. */
    deliver,
    /** Signals those that watch this run. */
    signal(run: number, now: Moment): void {
      if (knownRuns.isUnwatched(run)) return;
      for (const { watcher, signal, id } of take.all(run)) deliver(watcher, signal, id, now);
      knownRuns.noteUnwatched(run);
    },
    /** The ids of the runs signaled since the last call. */
    takeSignaled(): readonly string[] {
      if (signaled.length === 0) return signaled;
      const taken = signaled;
      signaled = [];
      return taken;
    },
  };
}

/** The statements of `watchersTable`. */
export type WatchersTable = ReturnType<typeof watchersTable>;
