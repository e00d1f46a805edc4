import type { ErrorCode } from "./errors.ts";
import type { Json } from "./json.ts";
import type { RunDefinition, RunEvent } from "./run.ts";

/**
 * Where a run can stand. `paused`: stopped with a cause that a person has to remove (changed code,
 * say); never a loss, never an end.
 */
export const runStatuses = ["queued", "running", "waiting", "paused", "completed", "failed", "canceled"] as const;

/** One of them. */
export type RunStatus = (typeof runStatuses)[number];

/** The three that never change again. */
export const terminalStatuses: readonly RunStatus[] = ["completed", "failed", "canceled"];

/** A run as it stands. Times are milliseconds since 1970. */
export type RunRecord = {
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus;
  /** Who started it; every outside reader checks it. */
  readonly principal: string;
  /** The conversation it belongs to. */
  readonly contextId: string;
  readonly input: Json;
  readonly output?: Json;
  /** Why it failed or paused. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** What it waits for, when it waits for a signal. */
  readonly waiting?: { readonly signal: string; readonly reason?: string };
  /** Sequence number of its newest event; 0 when it has none. */
  readonly lastEvent: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** An event in its place: `seq` counts 1, 2, 3 … within its run, without gaps. */
export type StoredEvent = {
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly event: RunEvent;
};

/**
 * What a live follower sees: stored events in order, and between them progress that is not stored.
 */
export type FollowItem =
  | ({ readonly kind: "event" } & StoredEvent)
  | { readonly kind: "progress"; readonly event: RunEvent };

/** A run to start. */
export type StartRequest = {
  readonly kind: string;
  readonly input: Json;
  readonly principal: string;
  readonly contextId: string;
  /** Chosen by the engine (UUID v7) when left out. */
  readonly id?: string;
  /**
   * The principal's same key with the same hash is the same run; with another hash it is refused
   * with `conflict`. A request without a hash knows the key alone: it finds the run whatever its
   * hash is, and a run that it began is found by any.
   */
  readonly dedupe?: { readonly key: string; readonly hash?: string };
  /**
   * Begins it as canceled, unless `dedupe` finds it: nothing of it is executed, and who starts it
   * later by its key gets the canceled run.
   */
  readonly canceled?: boolean;
  /** The run's first events, in the transaction that accepts it. */
  readonly events?: readonly RunEvent[];
};

/** Which runs to list; what is left out does not narrow. */
export type ListFilter = {
  readonly principal?: string;
  readonly kind?: string;
  /** Of any of these kinds. */
  readonly kinds?: readonly string[];
  readonly contextId?: string;
  readonly statuses?: readonly RunStatus[];
  readonly waitingReason?: string;
  /**
   * `false` leaves out what a step of another run here asked for: runs whose dedupe key ends in
   * that step's key.
   */
  readonly asked?: false;
  /** Only runs whose `updatedAt` is at or after this. */
  readonly updatedSince?: number;
  readonly limit: number;
  /** From a former page's `nextCursor`. */
  readonly cursor?: string;
};

/** Whether the store can be written, and if not, why. */
export type EngineHealth = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Keeps runs. Everything it accepts is on disk before its promise resolves, and goes on after any
 * crash of any process that shares the store. Refuses new work with `storage_unavailable` while the
 * store cannot be written.
 */
export interface Engine {
  /**
   * Accepts a run; `created` is false when `dedupe` found it. The run starts as soon as a worker is
   * free.
   */
  start(request: StartRequest): Promise<{ readonly run: RunRecord; readonly created: boolean }>;
  /**
   * Keeps a signal for a run, early or not. The same `id` (default: the name) on the same name is
   * kept once and later ones answer `duplicate`. `events` are appended in the same transaction.
   * Rejects with `not_found` or, after the run's end, `run_ended`.
   */
  deliver(
    runId: string,
    name: string,
    payload: Json,
    options?: { readonly id?: string; readonly events?: readonly RunEvent[] },
  ): Promise<"stored" | "duplicate">;
  /**
   * Asks a run to end as canceled: after this resolves no new step of it starts, and it ends once
   * the steps in flight have stopped. Harmless on a run that is canceled already; rejects with
   * `run_ended` on one that ended otherwise.
   */
  cancel(runId: string): Promise<void>;
  /** Lets a paused run try again. */
  resume(runId: string): Promise<void>;
  get(runId: string): Promise<RunRecord | undefined>;
  /** Newest `updatedAt` first. */
  list(
    filter: ListFilter,
  ): Promise<{ readonly runs: readonly RunRecord[]; readonly nextCursor?: string; readonly total: number }>;
  /** Stored events with `seq` greater than `after`, in order. */
  events(runId: string, after?: number): Promise<readonly StoredEvent[]>;
  /**
   * Stored events with `seq` greater than `after`, then live ones until the run's last event or
   * until `signal` aborts, which ends it quietly. A slow reader costs the run nothing and misses
   * nothing but progress.
   */
  follow(runId: string, options: { readonly after?: number; readonly signal: AbortSignal }): AsyncIterable<FollowItem>;
  /**
   * Starts executing runs of these kinds in this process, at most `concurrency` bodies at once.
   * Kinds taken on `apart`, which watch other runs, say, are counted by themselves and never keep
   * the others from starting.
   */
  work(
    definitions: readonly RunDefinition[],
    options?: { readonly concurrency?: number; readonly dedicatedPool?: boolean },
  ): void;
  health(): EngineHealth;
  /**
   * Claims nothing more, aborts steps still in flight after `graceMs`, hands the runs back so that
   * others go on at once, and closes.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Where the engine tells what no caller can be told. pino's loggers fit. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Keeps nothing. */
export const silentLog: Log = { warn() {}, error() {} };
