import type { Json } from "./json.ts";

/**
 * What repeating a step's function would do. After a crash a `pure` or `idempotent` step whose
 * result was not recorded runs again; a `once` step that had started is not repeated: it rejects
 * with `interrupted`. A `pure` one only computes or reads what is not the run's own, and may come
 * to another result each time: it does not wait for what was recorded before it.
 */
export type Effect = "pure" | "idempotent" | "once";

/**
 * One thing that happened in a run, as observers see it. `type` is noun-verb; the fields are the
 * type's own.
 */
export type RunEvent = { readonly type: string; readonly [field: string]: Json | undefined };

/** What a step's function gets. */
export interface StepContext {
  /**
   * Aborted when the run is cancelled, its lease is lost, its branch lost a race, or the process
   * drains.
   */
  readonly signal: AbortSignal;
  /**
   * `runId/path`: the same at every attempt, so it serves as idempotency key towards others (an A2A
   * messageId, say).
   */
  readonly key: string;
  /**
   * Milliseconds on the clock of runs, for durations and deadlines: what is recorded of it compares
   * in any later step, in any process. It goes on evenly whatever the machine's clock is set to;
   * where the machine itself was started anew, only that clock can tell what passed.
   */
  now(): number;
  /**
   * Keeps an event to be committed in one transaction with this step's result; dropped if the step
   * does not finish.
   */
  emit(event: RunEvent): void;
  /**
   * Shows something to those who watch right now, in this process (token deltas, live output).
   * Never stored or replayed.
   */
  progress(event: RunEvent): void;
}

/**
 * The durable verbs. A run's body is ordinary async TypeScript that does everything with an outside
 * effect or an unpredictable value inside `step`; between steps it must be deterministic, for after
 * a restart it is executed again from the top with recorded results handed back. Operations are
 * numbered when they are called; branches of `all` and `race` number their own, so that concurrency
 * does not disturb replay. An operation whose kind or name does not match the journal pauses the
 * run with `non_deterministic`; what a body emits is not compared, for it only tells.
 */
export interface Run {
  readonly id: string;
  /** Who started it, and the conversation it belongs to. */
  readonly principal: string;
  readonly contextId: string;
  /**
   * Aborted when the run is cancelled, its lease is lost, its branch lost a race, or the process
   * drains.
   */
  readonly abortSignal: AbortSignal;
  /**
   * Runs `fn` and records its result, or the AppError it throws, before anything that follows from
   * it is seen outside: before a step begins that is not `pure`, and no later than anything else
   * the run records. A recorded step never runs again. Anything thrown that is not an AppError is
   * recorded as `internal`. An abort is never recorded. `effect` is `idempotent` when left out.
   */
  step<T extends Json | undefined>(
    name: string,
    fn: (step: StepContext) => Promise<T>,
    options?: { readonly effect?: Effect },
  ): Promise<T>;
  /**
   * Waits at least `milliseconds`, across restarts; wakes once. With `until` it ends as soon as
   * that signal aborts in this process, for which the run stays in memory.
   */
  sleep(milliseconds: number, options?: { readonly until?: AbortSignal | undefined }): Promise<void>;
  /**
   * The next undelivered signal of this name, in order of arrival; waits for it without holding
   * memory. `reason` is shown to observers while the run waits (`input-required`); `events` are
   * committed with the wait.
   */
  signal<T extends Json>(
    name: string,
    options?: { readonly reason?: string; readonly events?: readonly RunEvent[] },
  ): Promise<T>;
  /** All undelivered signals of this name that have arrived by now, perhaps none; never waits. */
  poll<T extends Json>(name: string): Promise<readonly T[]>;
  /**
   * Runs the branches concurrently and returns their values in order. When one rejects, the others'
   * signals abort, all are awaited, and the rejection is recorded and thrown.
   */
  all<T>(branches: readonly ((run: Run) => Promise<T>)[]): Promise<T[]>;
  /**
   * The value of the first branch that fulfils or the error of the first that rejects, recorded;
   * the others' signals abort.
   */
  race<T>(branches: readonly ((run: Run) => Promise<T>)[]): Promise<T>;
  /**
   * Appends an event to the run's log; on replay an event already there is not appended again. It
   * is known by its type, and by the operation before it: code that has changed and tells of
   * something there for the first time does so now, once.
   */
  emit(event: RunEvent): void;
}

/**
 * A kind of run: its name in the journal and its body. The value it returns is the run's output.
 */
export type RunDefinition = {
  readonly kind: string;
  execute(run: Run, input: Json): Promise<Json>;
};
