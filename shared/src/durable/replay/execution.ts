import { AppError, publicError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition, RunEvent } from "../../core/runs/run.ts";
import { traceOfRun, withinTrace } from "../../core/trace.ts";
import { aborts, never } from "./aborts.ts";
import type { ExecutionContext, ExecutionOptions } from "./execution-context.ts";
import type { Journal } from "./journal.ts";
import { createLeaseCheck } from "./lease-check.ts";
import { ProgressOrder } from "./progress-order.ts";
import { type Ending, type JournalRow, LeaseLost, type OperationKind } from "./run-store.ts";
import { BranchScope } from "./scope.ts";
import { scopedRun } from "./scoped-run.ts";
import { Waiting } from "./waiting.ts";
import { WriteBehindBuffer } from "./write-behind-buffer.ts";

/**
 * How an execution ended in this process: the run ended, waits, is paused, was handed back, or
 * belongs to another worker.
 */
export type ExecutionOutcome = "ended" | "parked" | "paused" | "released" | "lost";

/**
 * One execution of a run's body in this process, from its claim until it ends, parks, or leaves.
 * Afterwards it writes nothing: operations of a dropped body stay pending forever, and are
 * garbage-collected with it.
 */
export class Execution implements ExecutionContext {
  readonly options: ExecutionOptions;
  readonly root: BranchScope;
  readonly journal: Journal;
  readonly progress: ProgressOrder;
  readonly buffer = new WriteBehindBuffer();
  /** Resolves once everything of the run is written. */
  readonly done: Promise<ExecutionOutcome>;
  readonly #waiting: Waiting;
  readonly #leave: (outcome: ExecutionOutcome) => void;
  #over = false;
  #draining = false;
  #canceled = false;
  /** Steps and writes in progress anywhere in the run, including abandoned branches. */
  #inFlight = 0;
  #checkScheduled = false;
  readonly #leaseState: ReturnType<typeof createLeaseCheck>;

  constructor(journal: Journal, options: ExecutionOptions) {
    this.options = options;
    this.journal = journal;
    this.progress = new ProgressOrder(options.progress, () => options.store.hurry());
    this.root = new BranchScope("", { sealed: false, stopMs: options.stopMs, emitted: journal.emitted });
    this.#waiting = new Waiting(this);
    this.#leaseState = createLeaseCheck(options.store);
    const { promise, resolve } = Promise.withResolvers<ExecutionOutcome>();
    this.done = promise;
    this.#leave = resolve;
  }

  /**
   * Call it before `start` for a run that is still being stored: nothing that has effects or can be
   * seen happens before. `stored` resolves with false if the run is not to be executed here.
   */
  waitFor(stored: Promise<boolean>): void {
    void stored.then((isOurs) => {
      if (!isOurs) this.lose();
    });
    // The caller that started the run follows it as soon as it is stored.
    this.progress.after(stored.then(() => new Promise(setImmediate)));
    void this.buffer.add(stored);
  }

  /** Runs the body. Call it once. */
  start(definition: Pick<RunDefinition, "execute">, input: Json): void {
    const body = async () => definition.execute(this.runFor(this.root), input);
    withinTrace(traceOfRun(this.options.runId, input), body).then(
      (output) => this.#bodyEnded(() => ({ status: "completed", output: output ?? null })),
      (error) => this.#bodyEnded(() => this.#failure(error)),
    );
  }

  runFor(scope: BranchScope): Run {
    return scopedRun(this, scope);
  }

  get isOver(): boolean {
    return this.#over;
  }

  get waiting(): Waiting {
    return this.#waiting;
  }

  recall(path: string, kind: OperationKind, name: string): JournalRow | undefined | "changed" {
    try {
      return this.journal.take(path, kind, name);
    } catch (error) {
      this.pause(error);
      return "changed";
    }
  }

  async admit(scope: BranchScope, path: string): Promise<void> {
    if (this.#waiting.parking !== undefined) await this.#waiting.parking;
    scope.throwIfAborted();
    if (scope.sealed) await this.#waiting.lost(scope, path);
    if (this.#over || this.#draining) await never();
  }

  async assertHeld(scope: BranchScope): Promise<void> {
    const leaseState = await this.#leaseState();
    if (leaseState === "canceled") this.cancel();
    else if (leaseState === "lost") this.lose();
    scope.throwIfAborted();
  }

  record(scope: BranchScope, row: JournalRow, events: readonly RunEvent[] = []): Promise<void> {
    return this.write(scope, () => this.options.store.record(row, events));
  }

  async recordBehind(scope: BranchScope, row: JournalRow, events: readonly RunEvent[]): Promise<void> {
    scope.throwIfAborted();
    if (this.#over) return never();
    const written = this.record(scope, row, events);
    this.progress.after(written);
    await this.buffer.add(written);
  }

  async write<T>(scope: BranchScope, write: () => Promise<T>): Promise<T> {
    scope.throwIfAborted();
    if (this.#over) return never();
    return this.during(scope, async () => {
      try {
        return await write();
      } catch (error) {
        this.writeFailed(error);
        scope.throwIfAborted();
        return never();
      }
    });
  }

  async during<T>(scope: BranchScope, work: () => Promise<T>): Promise<T> {
    scope.busy++;
    this.#inFlight++;
    try {
      return await work();
    } finally {
      scope.busy--;
      this.#inFlight--;
      this.check();
    }
  }

  check(): void {
    if (this.#checkScheduled || this.#over) return;
    this.#checkScheduled = true;
    setImmediate(() => {
      this.#checkScheduled = false;
      if (this.#over) return;
      if (!this.#waiting.advance() && this.#draining && this.#inFlight === 0) this.#release();
    });
  }

  /** Signals may have arrived. */
  nudge(): void {
    this.#waiting.nudge();
  }

  cancel(): void {
    if (this.#canceled || this.#over) return;
    this.#canceled = true;
    this.root.abort(aborts.canceled());
    setTimeout(() => this.#end({ status: "canceled" }), this.options.stopMs + 100).unref();
  }

  /** Another worker owns the run. */
  lose(): void {
    this.#overWith(aborts.leaseLost(), "lost");
  }

  /** Starts no more operations, and hands the run back once those in flight are done. */
  drain(): void {
    this.#draining = true;
    this.check();
  }

  /** Aborts what is in flight, waits at most `stopMs` for it, and hands the run back. */
  async abandon(): Promise<void> {
    if (this.#over) return;
    this.#close();
    this.root.abort(aborts.draining());
    const deadline = performance.now() + this.options.stopMs;
    while (this.#inFlight > 0 && performance.now() < deadline) await Bun.sleep(5);
    await this.#handBack();
  }

  pause(error: unknown): void {
    if (this.#over) return;
    this.#overWith(aborts.paused());
    void this.#storePaused(error);
  }

  parked(): void {
    this.#close();
    this.#leave("parked");
  }

  writeFailed(error: unknown): void {
    if (error instanceof LeaseLost || error instanceof AppError) return void this.lose();
    this.#logUnwritten(error);
    this.pause(error);
  }

  #logUnwritten(error: unknown): void {
    this.options.log.error({ runId: this.options.runId, err: error }, "A run's record could not be written.");
  }

  async #bodyEnded(ending: () => Ending): Promise<void> {
    await this.#waiting.parking;
    if (this.#over) return;
    if (this.#canceled) return this.#end({ status: "canceled" });
    try {
      this.journal.assertAllTaken();
    } catch (error) {
      return this.pause(error);
    }
    await this.#end(ending());
  }

  async #end(ending: Ending): Promise<void> {
    if (this.#over) return;
    this.#overWith(aborts.ended());
    try {
      await this.options.store.end(ending);
      this.#leave("ended");
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof AppError) return this.#leftWith(error);
      this.#logUnwritten(error);
      await this.#storePaused(error);
    }
  }

  /** Stores the run as paused. */
  async #storePaused(error: unknown): Promise<void> {
    try {
      await this.options.store.pause(publicError(error));
      this.#leave("paused");
    } catch (failure) {
      this.#leftWith(failure);
    }
  }

  #failure(error: unknown): Ending {
    const { runId, log } = this.options;
    if (!(error instanceof AppError)) log.error({ runId, err: error }, "A run failed with an unexpected error.");
    return { status: "failed", error: publicError(error) };
  }

  #release(): void {
    this.#close();
    this.#handBack().catch(() => undefined);
  }

  async #handBack(): Promise<void> {
    try {
      await this.options.store.release();
      this.#leave("released");
    } catch (error) {
      this.#leftWith(error);
    }
  }

  #leftWith(error: unknown): void {
    if (!(error instanceof LeaseLost)) {
      this.options.log.error(
        { runId: this.options.runId, err: error },
        "A run could not be stored as ended, paused or handed back.",
      );
    }
    this.#leave("lost");
  }

  #overWith(reason: DOMException, outcome?: ExecutionOutcome): void {
    if (this.#over) return;
    this.#close();
    this.root.abort(reason);
    if (outcome !== undefined) this.#leave(outcome);
  }

  #close(): void {
    this.#over = true;
    this.#waiting.stop();
  }
}
