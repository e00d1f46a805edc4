import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { RunEvent } from "../../core/runs/run.ts";

/** The verbs that are numbered in the journal. */
export type OperationKind = "step" | "sleep" | "signal" | "poll" | "all" | "race" | "emit";

/** An error as recorded: enough to throw an equal AppError later. */
export type RecordedError = { readonly code: ErrorCode; readonly message: string };

/**
 * One operation of a run. `out` is JSON text, absent for undefined; for a sleep it is the wake
 * time.
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

/** What is stored about a run whose every live branch waits. */
export type Parking = {
  /** When it continues without a signal: milliseconds on the clock of runs. */
  readonly wakeAt?: number;
  readonly signals: readonly string[];
  /** What observers see. */
  readonly shown?: { readonly signal: string; readonly reason?: string };
};

/** What an execution does at once when it has nothing to do but wait. */
export type WaitRequest = {
  /** Waits that start now, each with the events to commit with it. */
  readonly begin: readonly { readonly row: JournalRow; readonly events: readonly RunEvent[] }[];
  /**
   * The signals waited for, in the order in which to serve them. Evaluated inside the transaction,
   * since a wait aborted by then must take nothing.
   */
  readonly wanted: () => readonly { readonly path: string; readonly name: string }[];
  /**
   * Given when nothing else of the run is in progress: parks the run unless a wanted signal is
   * stored or the run is canceled.
   */
  readonly park?: Parking;
};

/**
 * Hands out at most one signal at a time, so that one branch of a race cannot take a signal that
 * another then needs.
 */
export type WaitAnswer = {
  readonly taken?: { readonly path: string; readonly payload: string };
  readonly parked: boolean;
  /** The run was asked to end as canceled, and so was not parked. */
  readonly canceled: boolean;
};

/** How a body ended. A run canceled meanwhile ends as canceled regardless. */
export type Ending =
  | { readonly status: "completed"; readonly output: Json }
  | { readonly status: "failed"; readonly error: RecordedError }
  | { readonly status: "canceled" };

/**
 * The store of one claimed run, as replay sees it. Every write is one transaction, is committed in
 * the order of the calls, rejects with LeaseLost once another worker owns the run, and stays
 * pending while the storage is unavailable, so that the run pauses until it works again.
 */
export interface RunStore {
  load(): Promise<readonly JournalRow[]>;
  /** Whether a new step may start: not once the run is canceled or belongs to another worker. */
  leaseState(): Promise<"held" | "canceled" | "lost">;
  /** Adds a row, or replaces a started one by its done form, with the events that belong to it. */
  record(row: JournalRow, events?: readonly RunEvent[]): Promise<void>;
  wait(request: WaitRequest): Promise<WaitAnswer>;
  /** Whether an undelivered signal of this name is stored. */
  hasSignal(name: string): Promise<boolean>;
  /**
   * Records a poll: takes every undelivered signal of the row's name, returned as the JSON text of
   * a list.
   */
  takeAll(row: JournalRow): Promise<string>;
  /** Gives back a signal that reached its wait too late. */
  giveBack(path: string): Promise<void>;
  end(ending: Ending): Promise<void>;
  pause(error: RecordedError): Promise<void>;
  /** Commits queued writes soon, because somebody is watching. */
  hurry(): void;
  /** Hands the run back so that any worker may claim it at once. */
  release(): Promise<void>;
}

/** Another worker owns the run, so nothing this worker does to it counts. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The store of the runs is away; what needs it may succeed later. */
export class StoreUnavailable extends AppError {
  constructor(reason: string, cause?: unknown) {
    super("storage_unavailable", `The run store is unavailable: ${reason}.`, { cause });
  }
}
