import type { Log } from "../../../core/runs/engine.ts";
import type { Database } from "../database.ts";
import type { DatabaseClock } from "../database-clock.ts";
import type { News } from "../news.ts";
import type { RunRow } from "../run-row.ts";
import type { Executor, Pool } from "./executor.ts";

/** What a dispatcher may use. */
export type DispatcherDeps = {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly executor: Executor;
  readonly news: News;
  readonly log: Log;
  /** How long a worker may be silent before another takes its runs over. */
  readonly leaseMs: number;
};

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
  /** The name under which this process may own runs; undefined while others may think it dead. */
  readonly owner: string | undefined;
  /** Whether nothing is being claimed or executed on its account. */
  readonly isIdle: boolean;
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
