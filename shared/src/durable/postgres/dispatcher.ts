import type { Pool } from "./executor.ts";
import type { RunRow } from "./run-row.ts";

/**
 * A reserved place for one run in this process: start it once it is accepted for this owner, then
 * leave. `body` is the version of the body it begins with.
 */
export type Seat = { readonly owner: string; readonly body: number; begin(row: RunRow): void; leave(): void };

/**
 * Finds runs for this process to execute, and notices when a process is gone. The store stays
 * correct whatever it does, since each claim of a run has an epoch and only the newest may write.
 */
export interface Dispatcher {
  /** Reserves a place for a run that is about to be accepted; undefined if others come first. */
  reserve(kind: string): Seat | undefined;
  /** The pool has new kinds or more room. */
  serve(pool: Pool): void;
  /** This run can go on, now or at `due` on the clock of runs. */
  runnable(runId: string, due?: number): void;
  /** Something changed elsewhere, so there may be runs to claim. */
  news(): void;
  /** Gives up this process's place; what it held must have been handed back before. */
  close(): Promise<void>;
}
