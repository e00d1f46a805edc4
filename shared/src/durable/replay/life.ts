import type { Log } from "../../core/engine.ts";
import type { Run, RunEvent } from "../../core/run.ts";
import type { Journal } from "./journal.ts";
import type { JournalRow, OperationKind, RunStore } from "./run-store.ts";
import type { Scope } from "./scope.ts";
import type { ProgressOrder, WriteBehindBuffer } from "./write-behind-buffer.ts";

/** What an execution is made with. */
export type ExecutionOptions = {
  readonly runId: string;
  readonly principal: string;
  readonly contextId: string;
  readonly store: RunStore;
  readonly log: Log;
  /** The time of runs in milliseconds, which goes on evenly over the lives of all processes. */
  readonly clock: () => number;
  /** How long a step may go on after its abort before it is left behind. */
  readonly stopMs: number;
  readonly progress: (event: RunEvent) => void;
};

/** One life of a run's body in this process, as the operations of the body see it. */
export interface Life {
  readonly options: ExecutionOptions;
  readonly root: Scope;
  readonly journal: Journal;
  readonly progress: ProgressOrder;
  readonly buffer: WriteBehindBuffer;
  readonly isOver: boolean;
  readonly waiting: Waits;
  runFor(scope: Scope): Run;
  /**
   * The row recorded for an operation; "changed" after it paused the run because another operation
   * was recorded there.
   */
  recall(path: string, kind: OperationKind, name: string): JournalRow | undefined | "changed";
  /**
   * Resolves when an operation without a record may start: never, once this execution is over or
   * draining.
   */
  admit(scope: Scope, path: string): Promise<void>;
  /**
   * Rejects with the abort's reason when no new step may start. While the storage cannot say, it
   * may.
   */
  assertHeld(scope: Scope): Promise<void>;
  /** Writes a row; rejects with the abort's reason when the run is no longer ours. */
  record(scope: Scope, row: JournalRow, events?: readonly RunEvent[]): Promise<void>;
  /**
   * Sends a row on its way to the store and resolves before it is there; what needs it there waits
   * for the trail.
   */
  recordBehind(scope: Scope, row: JournalRow, events: readonly RunEvent[]): Promise<void>;
  /**
   * Does a write of the store as part of `scope`; for an aborted scope nothing is written any more.
   */
  write<T>(scope: Scope, write: () => Promise<T>): Promise<T>;
  /** Counts `work` as being in flight, so that the run neither parks nor leaves meanwhile. */
  during<T>(scope: Scope, work: () => Promise<T>): Promise<T>;
  /** Looks, once the body has gone as far as it can, whether the run waits or may leave. */
  check(): void;
  /** The run was cancelled in the store: stops the body, which ends it. */
  cancel(): void;
  /** Stops for a cause a person has to remove. */
  pause(error: unknown): void;
  /** The store parked the run: nothing is left to do here. */
  parked(): void;
  /**
   * A write is refused when the run is no longer ours or the engine is closed; anything else is a
   * bug, and pauses the run.
   */
  writeFailed(error: unknown): void;
}

/** The waits of a life. */
export interface Waits {
  /**
   * Resolves with the payload's JSON text. `begin` is undefined when the wait is in the journal
   * already.
   */
  signal(
    scope: Scope,
    spec: { path: string; name: string; reason: string | undefined; begin: readonly RunEvent[] | undefined },
  ): Promise<string>;
  /** Resolves at `wakeAt` on the clock of runs, or when `until` aborts. */
  sleep(
    scope: Scope,
    spec: { path: string; wakeAt: number; begun: boolean; until: AbortSignal | undefined },
  ): Promise<void>;
  /**
   * For an operation whose race or `all` was over before it got a result: rejects when its scope
   * aborts.
   */
  lost(scope: Scope, path: string): Promise<never>;
}
