import type { Json } from "../json.ts";

/**
 * Whether a step's function may be repeated. After a crash, a `pure` or `idempotent` step whose
 * result was not recorded runs again; a `once` step that had started does not, and rejects with
 * `interrupted`. A `pure` step only computes, or reads state outside the run, and its result may
 * differ each time; it does not wait until earlier records are on disk.
 */
export type Effect = "pure" | "idempotent" | "once";

/**
 * One thing that happened in a run, as observers see it. `type` is noun-verb; the fields depend on
 * the type.
 */
export type RunEvent = { readonly type: string; readonly [field: string]: Json | undefined };

/** What a step's function works with. */
export interface StepContext {
  /**
   * Aborted when the run is canceled, its lease is lost, its branch lost a race, or the process
   * drains.
   */
  readonly signal: AbortSignal;
  /**
   * `runId/path`: the same at every attempt, so it can serve as an idempotency key (an A2A
   * messageId, say).
   */
  readonly key: string;
  /**
   * Milliseconds on the clock of runs, for durations and deadlines: recorded values can be compared
   * in any later step, in any process. It runs evenly even if the machine's clock is changed; only
   * after a reboot does it take the elapsed time from that clock.
   */
  now(): number;
  /**
   * Records an event in the same transaction as this step's result; dropped if the step does not
   * finish.
   */
  emit(event: RunEvent): void;
  /**
   * Shows something to current watchers (token deltas, live output): to those in this process, and,
   * where several machines share the store, to others as far as it gets there. Never stored or
   * replayed.
   */
  progress(event: RunEvent): void;
}

/**
 * The durable verbs. A run's body is ordinary async TypeScript that does everything with an outside
 * effect or an unpredictable value inside `step`. Between steps it must be deterministic: after a
 * restart it is executed again from the top, and recorded results are handed back. Operations are
 * numbered when they are called; branches of `all` and `race` number their own, so that concurrency
 * does not disturb replay. An operation whose kind or name does not match the journal pauses the
 * run with `non_deterministic`; emitted events are not compared.
 */
export interface Run {
  readonly id: string;
  /** Who started it, and the conversation it belongs to. */
  readonly principal: string;
  readonly contextId: string;
  /**
   * Aborted when the run is canceled, its lease is lost, its branch lost a race, or the process
   * drains.
   */
  readonly abortSignal: AbortSignal;
  /**
   * Runs `fn` and records its result, or the AppError it throws, before any of its consequences are
   * visible outside: before the next step that is not `pure` starts, and no later than anything
   * else the run records. A recorded step never runs again. Anything thrown that is not an AppError
   * is recorded as `internal`. An abort is never recorded. `effect` defaults to `idempotent`.
   */
  step<T extends Json | undefined>(
    name: string,
    fn: (step: StepContext) => Promise<T>,
    options?: { readonly effect?: Effect },
  ): Promise<T>;
  /**
   * Waits at least `milliseconds`, across restarts; wakes once. With `until` it also ends when that
   * signal aborts in this process; the run then stays in memory.
   */
  sleep(milliseconds: number, options?: { readonly until?: AbortSignal | undefined }): Promise<void>;
  /**
   * The next undelivered signal of this name, in order of arrival. The wait does not keep the run
   * in memory. Observers see `reason` while the run waits (`input-required`); `events` are
   * committed with the wait.
   */
  signal<T extends Json>(
    name: string,
    options?: { readonly reason?: string; readonly events?: readonly RunEvent[] },
  ): Promise<T>;
  /** All undelivered signals of this name that have arrived so far, perhaps none; never waits. */
  poll<T extends Json>(name: string): Promise<readonly T[]>;
  /**
   * Runs the branches concurrently and returns their values in order. When one rejects, the others'
   * signals abort, all are awaited, and the rejection is recorded and thrown.
   */
  all<T>(branches: readonly ((run: Run) => Promise<T>)[]): Promise<T[]>;
  /** Settles as the first branch to settle does, and records that; the others' signals abort. */
  race<T>(branches: readonly ((run: Run) => Promise<T>)[]): Promise<T>;
  /**
   * Appends an event to the run's log. A replay does not append it again: an event is identified by
   * its type and the operation before it, so an event that changed code emits there for the first
   * time is appended once.
   */
  emit(event: RunEvent): void;
}

/** One version of a kind's body. */
export type RunBody = { readonly body: number; execute(run: Run, input: Json): Promise<Json> };

/**
 * A kind of run: its name in the journal and its body. The value it returns is the run's output.
 */
export type RunDefinition = {
  readonly kind: string;
  /**
   * Which version of the body `execute` is, 1 if left out. Count it up when the body asks for other
   * operations than before, and keep what it was in `former`.
   */
  readonly body?: number;
  execute(run: Run, input: Json): Promise<Json>;
  /**
   * What the body was, two versions at most: a run goes on with the body it began with. If no
   * process that shares the store has that, the run pauses with `version_missing` until one does.
   */
  readonly former?: readonly RunBody[];
};
