import type { Log } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import type { Journal } from "./journal.ts";
import type { ProgressOrder } from "./progress-order.ts";
import type { JournalRow, OperationKind, RunStore } from "./run-store.ts";
import type { BranchScope } from "./scope.ts";
import type { WriteBehindBuffer } from "./write-behind-buffer.ts";

/** Options of an execution. */
export type ExecutionOptions = {
  readonly runId: string;
  readonly principal: string;
  readonly contextId: string;
  readonly store: RunStore;
  readonly log: Log;
  /** The clock of runs in milliseconds, which runs evenly across all processes. */
  readonly clock: () => number;
  /** How long a step may continue after its abort before it is abandoned. */
  readonly stopMs: number;
  readonly progress: (event: RunEvent) => void;
};

/** One execution of a run's body in this process, as the body's operations see it. */
export interface ExecutionContext {
  readonly options: ExecutionOptions;
  readonly root: BranchScope;
  readonly journal: Journal;
  readonly progress: ProgressOrder;
  readonly buffer: WriteBehindBuffer;
  readonly isOver: boolean;
  readonly waiting: Waits;
  runFor(scope: BranchScope): Run;
  /**
   * The row recorded for an operation; "changed" if another operation is recorded there, which
   * pauses the run.
   */
  recall(path: string, kind: OperationKind, name: string): JournalRow | undefined | "changed";
  /**
   * Resolves when an operation without a record may start; never once this execution is over or
   * draining.
   */
  admit(scope: BranchScope, path: string): Promise<void>;
  /**
   * Rejects with the abort's reason if no new step may start. If the storage cannot tell, it may.
   */
  assertHeld(scope: BranchScope): Promise<void>;
  /** Writes a row; rejects with the abort's reason if the run is no longer ours. */
  record(scope: BranchScope, row: JournalRow, events?: readonly RunEvent[]): Promise<void>;
  /**
   * Queues a row for the store and resolves before it is written; code that needs it on disk waits
   * for the write-behind buffer.
   */
  recordBehind(scope: BranchScope, row: JournalRow, events: readonly RunEvent[]): Promise<void>;
  /** Does a write to the store as part of `scope`; nothing is written for an aborted scope. */
  write<T>(scope: BranchScope, write: () => Promise<T>): Promise<T>;
  /** Counts `work` as in flight, so that the run neither parks nor leaves meanwhile. */
  during<T>(scope: BranchScope, work: () => Promise<T>): Promise<T>;
  /** Checks, once the body has gone as far as it can, whether the run waits or may leave. */
  check(): void;
  /** The run was canceled in the store: stops the body, which ends the run. */
  cancel(): void;
  /** Pauses the run because of an error that a person has to fix. */
  pause(error: unknown): void;
  /** The store parked the run: nothing is left to do here. */
  parked(): void;
  /**
   * Handles a failed write: refused because the run is no longer ours or the engine is closed,
   * otherwise a bug, which pauses the run.
   */
  writeFailed(error: unknown): void;
}

/** The waits of an execution. */
export interface Waits {
  /**
   * Resolves when no wait may hold a signal that it will give back, because its branch has lost
   * meanwhile. Only then does the store know which signals are there.
   */
  settled(): Promise<void>;
  /**
   * Resolves with the payload's JSON text. `begin` is undefined if the wait is already in the
   * journal.
   */
  signal(
    scope: BranchScope,
    spec: { path: string; name: string; reason: string | undefined; begin: readonly RunEvent[] | undefined },
  ): Promise<string>;
  /** Resolves at `wakeAt` on the clock of runs, or when `until` aborts. */
  sleep(
    scope: BranchScope,
    spec: { path: string; wakeAt: number; begun: boolean; until: AbortSignal | undefined },
  ): Promise<void>;
  /**
   * For an operation whose race or `all` was over before it got a result: rejects when its scope
   * aborts.
   */
  lost(scope: BranchScope, path: string): Promise<never>;
}
