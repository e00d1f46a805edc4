import type { Database } from "bun:sqlite";
import type { Parking, RecordedError } from "../../replay/run-store.ts";
import type { Moment } from "../run-clock.ts";
import type { HeldRun, KnownRuns, Lease } from "./known-runs.ts";
import type { Result } from "./runs-table.ts";

const unclaimed = "owner = NULL, due = NULL, awaited = NULL, waiting_signal = NULL, waiting_reason = NULL";

/**
 * Statements that move a run from one status to the next; `n` is its key. Due times are on the
 * steady clock.
 */
export function statesTable(db: Database, knownRuns: KnownRuns) {
  const held = db.query<HeldRun, [number, string, number]>(
    "SELECT cancel_requested FROM runs WHERE n = ? AND owner = ? AND epoch = ?",
  );
  const park = db.query<null, [number, number | null, string, string | null, string | null, number]>(
    `UPDATE runs SET status = 'waiting', owner = NULL, updated_at = ?, due = ?, awaited = ?,
       waiting_signal = ?, waiting_reason = ? WHERE n = ?`,
  );
  const queue = db.query<null, [number, number, number]>(
    `UPDATE runs SET ${unclaimed}, status = 'queued', error = NULL, due = ?, updated_at = ? WHERE n = ?`,
  );
  const wake = db.query<null, [number, number, number, string]>(
    `UPDATE runs SET ${unclaimed}, status = 'queued', due = ?, updated_at = ?
     WHERE n = ? AND status = 'waiting' AND EXISTS (SELECT 1 FROM json_each(awaited) WHERE value = ?)`,
  );
  const pause = db.query<null, [string, number, number]>(
    `UPDATE runs SET ${unclaimed}, status = 'paused', error = ?, updated_at = ? WHERE n = ?`,
  );
  const end = db.query<{ last_event: number }, [string, string | null, string | null, number, number]>(
    `UPDATE runs SET ${unclaimed}, status = ?, output = ?, error = ?, updated_at = ?, last_event = last_event + 1
     WHERE n = ? RETURNING last_event`,
  );
  const requestCancel = db.query<null, [number, number]>(
    "UPDATE runs SET cancel_requested = 1, updated_at = ? WHERE n = ?",
  );
  return {
    /** Null unless this lease still holds the run. */
    held(lease: Lease): HeldRun | null {
      const known = knownRuns.heldBy(lease);
      if (known !== undefined) return known;
      const found = held.get(lease.n, lease.owner, lease.epoch);
      if (found !== null) knownRuns.noteHeld(lease, found);
      return found;
    },
    park(n: number, { wakeAt, signals, shown }: Parking, { wall }: Moment): void {
      knownRuns.forget(n);
      park.run(wall, wakeAt ?? null, JSON.stringify(signals), shown?.signal ?? null, shown?.reason ?? null, n);
    },
    /** Makes the run claimable. */
    queue(n: number, { wall, steady }: Moment): void {
      knownRuns.forget(n);
      queue.run(steady, wall, n);
    },
    /** Makes the run claimable if it waits for this signal. */
    wake: (n: number, signal: string, { wall, steady }: Moment) => void wake.run(steady, wall, n, signal),
    pause(n: number, error: RecordedError, { wall }: Moment): void {
      knownRuns.forget(n);
      pause.run(JSON.stringify(error), wall, n);
    },
    /** Returns the number of the run's last event, which is still to be stored. */
    end(n: number, { status, output, error }: Result, { wall }: Moment): number {
      knownRuns.forget(n);
      const row = end.get(status, output, error, wall, n);
      if (row === null) throw new Error("Only a stored run can end.");
      return row.last_event;
    },
    requestCancel(n: number, { wall }: Moment): void {
      knownRuns.forget(n);
      requestCancel.run(wall, n);
    },
  };
}

/** The statements of `statesTable`. */
export type StatesTable = ReturnType<typeof statesTable>;
