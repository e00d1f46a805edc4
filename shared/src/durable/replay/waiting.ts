import type { RunEvent } from "../../core/runs/run.ts";
import type { ExecutionContext, Waits } from "./execution-context.ts";
import { nonDeterministic } from "./journal.ts";
import type { JournalRow, Parking, WaitAnswer } from "./run-store.ts";
import type { BranchScope, SignalWait, SleepWait } from "./scope.ts";

/**
 * A run that only sleeps stays in memory if it continues within this many milliseconds, since a
 * replay would cost more.
 */
const napMs = 1000;
const longestTimerMs = 2 ** 31 - 1;

/**
 * The signals and sleeps a body waits for: answers them one at a time, and parks the run when
 * nothing else can happen.
 */
export class Waiting implements Waits {
  /** Pending while the store parks the run. */
  parking: Promise<void> | undefined;
  readonly #execution: ExecutionContext;
  /** The question to the store that is under way, until what came too late is given back. */
  #asking: Promise<void> | undefined;
  /** Whether signals may have arrived since the store was last asked. */
  #nudged = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(execution: ExecutionContext) {
    this.#execution = execution;
  }

  signal(
    scope: BranchScope,
    spec: { path: string; name: string; reason: string | undefined; begin: readonly RunEvent[] | undefined },
  ): Promise<string> {
    return this.#wait(scope, (resolve, reject) => {
      const wait: SignalWait = {
        kind: "signal",
        ...spec,
        resolve: (payload) => {
          scope.waits.delete(wait);
          resolve(payload);
        },
        reject,
      };
      scope.waits.add(wait);
    });
  }

  async sleep(
    scope: BranchScope,
    spec: { path: string; wakeAt: number; begun: boolean; until: AbortSignal | undefined },
  ): Promise<void> {
    const { path, wakeAt, until } = spec;
    const check = () => this.#execution.check();
    until?.addEventListener("abort", check, { once: true });
    const due = performance.now() + Math.max(0, wakeAt - this.#execution.options.clock());
    const ended = this.#wait<void>(scope, (resolve, reject) => {
      const wait: SleepWait = {
        kind: "sleep",
        path,
        wakeAt,
        due,
        until,
        begin: spec.begun ? undefined : [],
        resolve: () => {
          scope.waits.delete(wait);
          resolve();
        },
        reject,
      };
      scope.waits.add(wait);
    });
    await ended.finally(() => until?.removeEventListener("abort", check));
  }

  lost(scope: BranchScope, path: string): Promise<never> {
    return this.#wait(scope, (_, reject) => scope.waits.add({ kind: "lost", path, reject }));
  }

  /** Names of the signals waited for. */
  wantedSignals(): string[] {
    return [...this.#execution.root.pending()].flatMap((wait) => (wait.kind === "signal" ? [wait.name] : []));
  }

  nudge(): void {
    this.#nudged = true;
    this.#execution.check();
  }

  async settled(): Promise<void> {
    while (this.#asking !== undefined) await this.#asking;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Advances the waits. False if there is nothing to do until something else happens. */
  advance(): boolean {
    if (this.#asking !== undefined) return true;
    const waits = [...this.#execution.root.pending()];
    if (waits.length === 0) return false;
    const blocked = this.#execution.root.isBlocked();
    const lost = waits.find((wait) => wait.kind === "lost");
    if (blocked && lost !== undefined) {
      this.#execution.pause(nonDeterministic(`at ${lost.path} it now waits for a result it never had`));
      return true;
    }
    const signals = waits.filter((wait) => wait.kind === "signal");
    const sleeps = waits.filter((wait) => wait.kind === "sleep").toSorted((a, b) => dueOf(a) - dueOf(b));
    const left = (sleeps[0] === undefined ? Number.POSITIVE_INFINITY : dueOf(sleeps[0])) - performance.now();
    const mayPark = blocked && sleeps.every((wait) => wait.until === undefined);
    const park = mayPark && left > (signals.length === 0 ? napMs : 0);
    const begins = [...signals, ...sleeps].some((wait) => wait.begin !== undefined);
    if (begins || park || (this.#nudged && signals.length > 0)) {
      this.#asking = this.#ask(signals, sleeps, park);
      if (park) this.parking = this.#asking;
      return true;
    }
    if (sleeps[0] !== undefined && left <= 0) {
      this.#wake(sleeps[0]);
      return true;
    }
    clearTimeout(this.#timer);
    if (sleeps.length > 0) this.#timer = setTimeout(() => this.#execution.check(), Math.min(left, longestTimerMs));
    return false;
  }

  async #ask(signals: readonly SignalWait[], sleeps: readonly SleepWait[], park: boolean): Promise<void> {
    this.#nudged = false;
    const waits = [...signals, ...sleeps];
    try {
      const answer = await this.#execution.options.store.wait({
        begin: waits.flatMap((wait) =>
          wait.begin === undefined ? [] : [{ row: startedRow(wait), events: wait.begin }],
        ),
        wanted: () => {
          const pending = new Set(this.#execution.root.pending());
          return signals.filter((wait) => pending.has(wait));
        },
        ...(park ? { park: parking(signals, sleeps) } : {}),
      });
      for (const wait of waits) wait.begin = undefined;
      await this.#answered(answer);
    } catch (error) {
      this.#execution.writeFailed(error);
    } finally {
      this.#asking = undefined;
      this.parking = undefined;
      this.#execution.check();
    }
  }

  async #answered(answer: WaitAnswer): Promise<void> {
    if (answer.parked) return this.#execution.parked();
    if (answer.canceled) return this.#execution.cancel();
    const { taken } = answer;
    if (taken === undefined) return;
    this.#nudged = true;
    // Lets steps committed with this answer continue first: one may decide the race this wait is
    // in.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#execution.isOver) return;
    for (const wait of this.#execution.root.pending()) {
      if (wait.kind === "signal" && wait.path === taken.path) return wait.resolve(taken.payload);
    }
    await this.#execution
      .write(this.#execution.root, () => this.#execution.options.store.giveBack(taken.path))
      .catch(() => undefined);
  }

  #wake(wait: SleepWait): void {
    const { root } = this.#execution;
    this.#execution.record(root, { ...startedRow(wait), state: "done" }).catch(() => undefined);
    wait.resolve();
  }

  async #wait<T>(
    scope: BranchScope,
    begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void,
  ): Promise<T> {
    scope.throwIfAborted();
    this.#execution.check();
    return new Promise(begin);
  }
}

function dueOf({ due, until }: SleepWait): number {
  return until?.aborted === true ? Number.NEGATIVE_INFINITY : due;
}

function startedRow(wait: SignalWait | SleepWait): JournalRow {
  const { kind, path } = wait;
  return kind === "signal"
    ? { path, kind, name: wait.name, state: "started" }
    : { path, kind, name: "", state: "started", out: String(wait.wakeAt) };
}

function parking(signals: readonly SignalWait[], sleeps: readonly SleepWait[]): Parking {
  const shown = signals.find((wait) => wait.reason !== undefined) ?? signals[0];
  const wakeAt = sleeps[0] === undefined ? undefined : Math.min(...sleeps.map((wait) => wait.wakeAt));
  return {
    signals: [...new Set(signals.map((wait) => wait.name))],
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(shown === undefined
      ? {}
      : { shown: { signal: shown.name, ...(shown.reason === undefined ? {} : { reason: shown.reason }) } }),
  };
}
