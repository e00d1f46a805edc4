import type { ErrorCode } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Conversations } from "./conversations.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { Quota, QuotaUse } from "./quota.ts";
import type { RunDefinition, RunEvent } from "./run.ts";

/**
 * The states of a run. `paused`: stopped by something that a person has to fix, such as changed
 * code. Nothing is lost, and the run can resume.
 */
export const runStatuses = ["queued", "running", "waiting", "paused", "completed", "failed", "canceled"] as const;

/** The state of a run. */
export type RunStatus = (typeof runStatuses)[number];

/** The final states: a run in one of them never changes again. */
export const terminalStatuses: readonly RunStatus[] = ["completed", "failed", "canceled"];

/** The current record of a run. Times are milliseconds since 1970. */
export type RunRecord = {
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus;
  /** Who started it. Everything that serves a run to the outside checks it. */
  readonly principal: string;
  /** The conversation it belongs to. */
  readonly contextId: string;
  readonly input: Json;
  readonly output?: Json;
  /** Why it failed or paused. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The signal it waits for, if it waits for one. */
  readonly waiting?: { readonly signal: string; readonly reason?: string };
  /** Sequence number of its newest event; 0 if it has none. */
  readonly lastEvent: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A stored event; `seq` counts 1, 2, 3 … within its run, without gaps. */
export type StoredEvent = {
  readonly runId: string;
  readonly seq: number;
  readonly at: number;
  readonly event: RunEvent;
};

/** A run that is over, with all of its events. */
export type EndedRun = { readonly run: RunRecord; readonly events: readonly StoredEvent[] };

/**
 * What a live follower gets: stored events in order, interleaved with progress that is not stored.
 */
export type FollowItem =
  | ({ readonly kind: "event" } & StoredEvent)
  | { readonly kind: "progress"; readonly event: RunEvent };

/**
 * A follower's items one by one, or in `pages`: the items that are there at once, which a reader of
 * many takes in a fraction of the time.
 */
export type Following = AsyncIterable<FollowItem> & { pages(): AsyncIterable<readonly FollowItem[]> };

/** From where a run is followed. */
export type FollowPlace = {
  /** The last event the reader has; 0 for none. */
  readonly after?: number;
  /**
   * Whether the reader is also shown the progress since the run's last event, because it begins to
   * follow: one that comes back has seen it. Default: if it has no event yet.
   */
  readonly shown?: boolean;
  readonly signal: AbortSignal;
};

/** A run to start. */
export type StartRequest = {
  readonly kind: string;
  readonly input: Json;
  readonly principal: string;
  readonly contextId: string;
  /** Chosen by the engine (UUID v7) when left out. */
  readonly id?: string;
  /**
   * The same key of a principal with the same hash finds the same run; with another hash it is
   * refused with `conflict`. A missing hash, in the request or in the run it finds, matches any
   * hash. A run accepted `withinMs` ago or earlier is not found. With `perContext`, another hash is
   * refused only in the run's own context. A run that starts although the key was used takes it
   * over.
   */
  readonly dedupe?: {
    readonly key: string;
    readonly hash?: string;
    readonly withinMs?: number;
    readonly perContext?: boolean;
  };
  /**
   * Creates the run as canceled, unless `dedupe` finds it: nothing of it is executed, and a later
   * start with the same key gets the canceled run.
   */
  readonly canceled?: boolean;
  /**
   * What the principal may use: a run beyond it is refused with `quota_exceeded`, one that `dedupe`
   * finds never. Left out for runs that are part of another, which do not count among those the
   * principal has at once.
   */
  readonly quota?: Quota | undefined;
  /** The run's first events, stored in the transaction that accepts it. */
  readonly events?: readonly RunEvent[];
};

/** Which runs to list; an omitted field does not filter. */
export type ListFilter = {
  readonly principal?: string;
  readonly kind?: string;
  /** Any of these kinds. */
  readonly kinds?: readonly string[];
  readonly contextId?: string;
  readonly statuses?: readonly RunStatus[];
  readonly waitingReason?: string;
  /** Only runs that failed, or paused, with an error of this code. */
  readonly errorCode?: ErrorCode;
  /**
   * `false` leaves out runs that a step of another run of the same principal in this store asked
   * for: those whose dedupe key ends in that step's key.
   */
  readonly asked?: false;
  /** Only runs whose `updatedAt` is at or after this. */
  readonly updatedSince?: number;
  /**
   * Leaves out runs of which the index of words can tell that neither they nor any that they asked
   * for says all these words. What is left need not say them: `search` looks.
   */
  readonly words?: readonly string[];
  /** Counts no further than this: a `total` as large as this means that there may be more. */
  readonly countAtMost?: number;
  readonly limit: number;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
};

/** Whether the store is writable, and if not, why. */
export type EngineHealth = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Stores and executes runs. Everything it accepts is on disk before its promise resolves, and
 * continues after a crash of any process that shares the store. Refuses new work with
 * `storage_unavailable` while the store is not writable.
 */
export interface Engine extends Housekeeping {
  /**
   * Accepts a run, which starts as soon as a worker is free; `created` is false if `dedupe` found
   * it. The run is as it was accepted; `ended` is what became of it, if it was over as soon as it
   * was stored.
   */
  start(
    request: StartRequest,
  ): Promise<{ readonly run: RunRecord; readonly created: boolean; readonly ended?: EndedRun }>;
  /**
   * Rejects with `quota_exceeded` if the principal has reached a limit: with `starts`, as `start`
   * would for a new run; without, for more work on a run that it has.
   */
  admit(
    request: Pick<StartRequest, "principal" | "contextId" | "dedupe"> & {
      readonly quota: Quota;
      readonly starts: boolean;
    },
  ): Promise<void>;
  /**
   * Counts what a principal has used of models outside its runs, however long the storage takes.
   */
  spend(principal: string, used: Pick<QuotaUse, "tokens" | "usd">): Promise<void>;
  /** What the principal uses now. */
  usage(principal: string): Promise<QuotaUse>;
  /**
   * Stores a signal for a run, whether or not the run waits for it yet. A second signal with the
   * same name and `id` (default: the name) is not stored and answers `duplicate`; one for a run
   * that has events after `ifLast`, `outdated`. `events` are appended in the same transaction.
   * Rejects with `not_found` or, after the run has ended, `run_ended`.
   */
  deliver(
    runId: string,
    name: string,
    payload: Json,
    options?: { readonly id?: string; readonly events?: readonly RunEvent[]; readonly ifLast?: number | undefined },
  ): Promise<"stored" | "duplicate" | "outdated">;
  /**
   * Stores a signal for the run `watcher`, once, when the run has events after `after`: in the
   * transaction that appends them, or now if there are some, or if it has ended. So a run waits for
   * another without being in memory. Asked again, it is the same signal. Rejects with `not_found`.
   */
  watch(
    runId: string,
    options: { readonly after: number; readonly watcher: string; readonly signal: string },
  ): Promise<void>;
  /**
   * Asks a run to end as canceled: after this resolves, none of its steps start, and it ends once
   * the steps in flight have stopped. Does nothing if the run is already canceled; rejects with
   * `run_ended` if it ended in another state.
   */
  cancel(runId: string): Promise<void>;
  /**
   * Resumes a paused run; does nothing for one that is not paused. Rejects with `not_found` or,
   * after the run has ended, `run_ended`.
   */
  resume(runId: string): Promise<void>;
  /**
   * With a `principal`, finds that principal's run only: another's takes no more work, and so no
   * more time, than one that never existed.
   */
  get(runId: string, principal?: string): Promise<RunRecord | undefined>;
  /** The run that a principal's `dedupe` key stands for, whatever its hash and its age. */
  byKey(principal: string, key: string): Promise<RunRecord | undefined>;
  /** Newest `updatedAt` first. */
  list(
    filter: ListFilter,
  ): Promise<{ readonly runs: readonly RunRecord[]; readonly nextCursor?: string; readonly total: number }>;
  /**
   * By run, the first event that says all these words, whatever their case, in it or in those of
   * its principal that its steps asked for in this store. Reads the events of each run that the
   * index of words does not exclude, so the time it takes grows with their number.
   */
  search(runIds: readonly string[], words: readonly string[]): Promise<ReadonlyMap<string, StoredEvent>>;
  /**
   * Enters the words of some runs that have ended into the index of words; resolves with how many
   * runs, 0 if there are none to enter now.
   */
  indexWords(): Promise<number>;
  /** Whether an event of one of the principal's runs refers to a file with this content. */
  hasFile(principal: string, sha256: string): Promise<boolean>;
  /**
   * What the finished steps of a run recorded under this field of their results, in no order:
   * nothing once its journal was deleted. Rejects with `not_found`.
   */
  recorded(runId: string, field: string): Promise<readonly Json[]>;
  /** Stored events with `seq` greater than `after`, up to `last`, in order. */
  events(runId: string, after?: number, last?: number): Promise<readonly StoredEvent[]>;
  /**
   * Stored events with `seq` greater than `after`, then live ones, until the run's last event or
   * until `signal` aborts, which ends the iteration without an error. A slow reader does not slow
   * the run, and misses nothing but progress.
   */
  follow(runId: string, place: FollowPlace): Following;
  /**
   * Yields soon after runs of this store have changed, whichever process changed them: once for all
   * that changed since the reader asked last, and now and then without cause. Ends when `signal`
   * aborts or the engine closes.
   */
  changes(signal: AbortSignal): AsyncIterable<void>;
  /**
   * Starts executing runs of these kinds in this process, at most `concurrency` bodies at once.
   * With `dedicatedPool` these kinds have a pool to themselves and never keep others from starting;
   * meant for runs that watch other runs.
   */
  work(
    definitions: readonly RunDefinition[],
    options?: { readonly concurrency?: number; readonly dedicatedPool?: boolean },
  ): void;
  /** Left out where all processes that share the store have one home. */
  readonly conversations?: Conversations;
  health(): EngineHealth;
  /**
   * Stops claiming runs, aborts the steps still in flight after `graceMs`, hands the runs back so
   * that other processes can continue them at once, and closes.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Where the engine reports what it cannot report to any caller. pino's loggers fit. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Discards everything. */
export const silentLog: Log = { warn() {}, error() {} };
