import type { ErrorCode } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { RunEvent } from "../../core/run.ts";

/** The verbs that take a number in the journal. */
export type OperationKind = "step" | "sleep" | "signal" | "poll" | "all" | "race" | "emit";

/** An error as it is kept: enough to throw an equal AppError later. */
export type RecordedError = { readonly code: ErrorCode; readonly message: string };

/**
 * One operation of a run. `out` is JSON text, absent for undefined; a sleep keeps its wake time in
 * it.
 */
export type JournalRow = {
  /**
   * "3", or "4/0/2": the third operation of the first branch of operation 4. An event's is "3.0":
   * the first after operation 3.
   */
  readonly path: string;
  readonly kind: OperationKind;
  readonly name: string;
  readonly state: "started" | "done";
  readonly out?: string;
  readonly error?: RecordedError;
};

/** What is kept of a run whose every live branch waits. */
export type Parking = {
  /** When, on the clock of runs, it goes on without a signal. Milliseconds. */
  readonly wakeAt?: number;
  readonly signals: readonly string[];
  /** What observers are shown. */
  readonly shown?: { readonly signal: string; readonly reason?: string };
};

export type WaitRequest = {
  /** Waits that begin now, each with the events to commit with it. */
  readonly begin: readonly { readonly row: JournalRow; readonly events: readonly RunEvent[] }[];
  /**
   * Signals wanted, in the order in which they are to be served. Asked inside the transaction: a
   * wait aborted by then must take nothing.
   */
  readonly wanted: () => readonly { readonly path: string; readonly name: string }[];
  /**
   * Given when nothing else of the run goes on: the run is parked unless a wanted signal is there
   * or it is cancelled.
   */
  readonly park?: Parking;
};

/**
 * At most one signal is handed out at a time, so that one branch of a race cannot take what another
 * then needs.
 */
export type WaitAnswer = {
  readonly taken?: { readonly path: string; readonly payload: string };
  readonly parked: boolean;
  /** The run was asked to end as canceled, and so was not parked. */
  readonly canceled: boolean;
};

/** How a body ended. A run that was cancelled meanwhile ends as canceled whatever this says. */
export type Ending =
  | { readonly status: "completed"; readonly output: Json }
  | { readonly status: "failed"; readonly error: RecordedError }
  | { readonly status: "canceled" };

/**
 * One claimed run as replay sees its store. Every write is one transaction, lands in the order of
 * the calls, rejects with LeaseLost once another worker owns the run, and stays pending while the
 * storage is unavailable: that is how storage trouble pauses a run.
 */
export interface RunStore {
  load(): Promise<readonly JournalRow[]>;
  /**
   * Whether a new step may start: it must not once the run was asked to end, or is another
   * worker's.
   */
  standing(): Promise<"held" | "canceled" | "lost">;
  /** Adds a row, or replaces a started one by its done form, with the events that belong to it. */
  record(row: JournalRow, events?: readonly RunEvent[]): Promise<void>;
  wait(request: WaitRequest): Promise<WaitAnswer>;
  /** Whether an undelivered signal of this name is there. */
  hasSignal(name: string): Promise<boolean>;
  /**
   * Records a poll: takes every undelivered signal of the row's name, returned as the JSON text of
   * a list.
   */
  takeAll(row: JournalRow): Promise<string>;
  /** Undoes the taking of a signal that reached its wait too late. */
  giveBack(path: string): Promise<void>;
  end(ending: Ending): Promise<void>;
  pause(error: RecordedError): Promise<void>;
  /** Commits soon what is on its way: somebody watches. */
  hurry(): void;
  /** Hands the run back so that any worker may claim it at once. */
  release(): Promise<void>;
}

/** Another worker owns the run: what this one does to it no longer counts. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}
