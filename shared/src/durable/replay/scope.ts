import type { RunEvent } from "../../core/runs/run.ts";
import { type EmittedEvents, placeBefore } from "./emitted-events.ts";

/** A durable wait that has not been answered yet. */
export type SignalWait = {
  readonly kind: "signal";
  readonly path: string;
  readonly name: string;
  readonly reason: string | undefined;
  /** Events to commit with the wait's row; undefined once that row is written. */
  begin: readonly RunEvent[] | undefined;
  readonly resolve: (payload: string) => void;
  readonly reject: (reason: unknown) => void;
};
/** A sleep that has not ended. */
export type SleepWait = {
  readonly kind: "sleep";
  readonly path: string;
  readonly wakeAt: number;
  /** The wake time on the process's monotonic clock, which no clock change moves. */
  readonly due: number;
  /** Ends the sleep early. */
  readonly until: AbortSignal | undefined;
  begin: readonly RunEvent[] | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
};
/** An operation of a finished race or `all` that never got a result; it can only be aborted. */
type LostWait = { readonly kind: "lost"; readonly path: string; readonly reject: (reason: unknown) => void };
/** An operation without a result yet that is not a step. */
export type Wait = SignalWait | SleepWait | LostWait;

/**
 * The body or one of its branches: numbers its operations, holds its waits, and passes an abort
 * down to the branches below.
 */
export class BranchScope {
  /** Steps and writes of this scope in progress. */
  busy = 0;
  readonly waits = new Set<Wait>();
  /** The live branches of each `all` and `race` in progress. */
  readonly groups = new Set<Set<BranchScope>>();
  /** Its race or `all` is over in the journal, so only recorded operations happen again. */
  readonly sealed: boolean;
  readonly #prefix: string;
  #controller: AbortController | undefined;
  #abortedWith: { readonly reason: unknown } | undefined;
  readonly #inFlight = new Set<() => void>();
  readonly #stopMs: number;
  readonly #recorded: EmittedEvents;
  #next = 0;
  #place: string;
  /** Number of events newly emitted at this place. */
  #emitted = 0;

  constructor(
    prefix: string,
    options: { readonly sealed: boolean; readonly stopMs: number; readonly emitted: EmittedEvents },
  ) {
    this.#prefix = prefix;
    this.#place = placeBefore(prefix);
    this.#recorded = options.emitted;
    this.sealed = options.sealed;
    this.#stopMs = options.stopMs;
  }

  /** Made for those who ask for it: most short runs never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== undefined) this.#controller.abort(this.#abortedWith.reason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#abortedWith !== undefined;
  }

  /** Throws the abort's reason. */
  throwIfAborted(): void {
    if (this.#abortedWith !== undefined) throw this.#abortedWith.reason;
  }

  /** The next operation's place in the journal. */
  nextPath(): string {
    let path = "";
    do path = `${this.#prefix}${this.#next++}`;
    while (this.#recorded.passes(path));
    this.#place = path;
    this.#emitted = 0;
    return path;
  }

  /** The place of an event emitted now; undefined if it was emitted before. */
  placeOf(type: string): string | undefined {
    return this.#recorded.take(this.#place, type) ? undefined : this.#recorded.next(this.#place, this.#emitted++);
  }

  /** A scope for one branch of the operation at `path`. */
  branch(path: string, index: number, sealed: boolean): BranchScope {
    return new BranchScope(`${path}/${index}/`, {
      sealed: this.sealed || sealed,
      stopMs: this.#stopMs,
      emitted: this.#recorded,
    });
  }

  /**
   * Aborts the steps in flight and rejects the waits, here and below. Steps that do not stop in
   * time are abandoned.
   */
  abort(reason: unknown): void {
    if (this.isAborted) return;
    this.#abortedWith = { reason };
    this.#controller?.abort(reason);
    for (const wait of this.waits) wait.reject(reason);
    this.waits.clear();
    for (const group of this.groups) for (const branch of group) branch.abort(reason);
    if (this.#inFlight.size === 0) return;
    setTimeout(() => {
      for (const abandon of this.#inFlight) abandon();
    }, this.#stopMs).unref();
  }

  /**
   * Settles like `work`, or rejects with the abort's reason if `work` ignores an abort for longer
   * than `stopMs`.
   */
  watch<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const abandon = () => reject(this.#abortedWith?.reason);
      this.#inFlight.add(abandon);
      work().then(
        (value) => {
          this.#inFlight.delete(abandon);
          resolve(value);
        },
        (error) => {
          this.#inFlight.delete(abandon);
          reject(error);
        },
      );
    });
  }

  /**
   * Whether nothing here can continue until a wait is answered: every live branch waits and nothing
   * is in flight.
   */
  isBlocked(): boolean {
    if (this.busy > 0 || this.waits.size + this.groups.size === 0) return false;
    for (const group of this.groups) for (const branch of group) if (!branch.isBlocked()) return false;
    return true;
  }

  /** Every wait here and below, in the order of the journal's branches. */
  *pending(): Generator<Wait> {
    yield* this.waits;
    for (const group of this.groups) for (const branch of group) yield* branch.pending();
  }
}
