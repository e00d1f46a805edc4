import type { RunEvent } from "../../core/runs/run.ts";
import type {
  Ending,
  JournalRow,
  Parking,
  RecordedError,
  RunStore,
  WaitAnswer,
  WaitRequest,
} from "../../durable/replay/run-store.ts";

/** Everything stored about one run. */
export type RunState = {
  readonly journal: Map<string, JournalRow>;
  readonly signals: { readonly name: string; readonly payload: string; takenBy?: string | undefined }[];
  readonly events: RunEvent[];
  parking?: Parking | undefined;
  ending?: Ending | undefined;
  paused?: RecordedError | undefined;
};

/** The state of a run that has done nothing. */
export function emptyState(): RunState {
  return { journal: new Map(), signals: [], events: [] };
}

/**
 * A run store in memory that remembers its state after each transaction, so that a crash after any
 * of them can be simulated.
 */
export class MemoryRunStore implements RunStore {
  readonly state: RunState;
  readonly history: RunState[];

  constructor(state: RunState) {
    this.state = structuredClone(state);
    this.history = [structuredClone(state)];
  }

  async load(): Promise<readonly JournalRow[]> {
    return [...this.state.journal.values()];
  }

  async leaseState(): Promise<"held"> {
    return "held";
  }

  record(row: JournalRow, events: readonly RunEvent[] = []): Promise<void> {
    return this.#commit(() => this.#put(row, events));
  }

  wait(request: WaitRequest): Promise<WaitAnswer> {
    return this.#commit(() => {
      for (const { row, events } of request.begin) this.#put(row, events);
      for (const { path, name } of request.wanted()) {
        const signal = this.state.signals.find((one) => one.name === name && one.takenBy === undefined);
        if (signal === undefined) continue;
        signal.takenBy = path;
        this.#put({ path, kind: "signal", name, state: "done", out: signal.payload }, []);
        return { taken: { path, payload: signal.payload }, parked: false, canceled: false };
      }
      this.state.parking = request.park;
      return { parked: request.park !== undefined, canceled: false };
    });
  }

  hurry(): void {}

  async hasSignal(name: string): Promise<boolean> {
    return this.state.signals.some((one) => one.name === name && one.takenBy === undefined);
  }

  takeAll(row: JournalRow): Promise<string> {
    return this.#commit(() => {
      const free = this.state.signals.filter((one) => one.name === row.name && one.takenBy === undefined);
      for (const signal of free) signal.takenBy = row.path;
      const out = `[${free.map((signal) => signal.payload).join()}]`;
      this.#put({ ...row, out }, []);
      return out;
    });
  }

  giveBack(path: string): Promise<void> {
    return this.#commit(() => {
      for (const signal of this.state.signals) if (signal.takenBy === path) signal.takenBy = undefined;
      const row = this.state.journal.get(path);
      if (row !== undefined) this.state.journal.set(path, { path, kind: row.kind, name: row.name, state: "started" });
    });
  }

  async end(ending: Ending): Promise<void> {
    await this.#commit(() => Object.assign(this.state, { ending }));
  }

  async pause(error: RecordedError): Promise<void> {
    await this.#commit(() => Object.assign(this.state, { paused: error }));
  }

  release(): Promise<void> {
    return this.#commit(() => undefined);
  }

  #put(row: JournalRow, events: readonly RunEvent[]): void {
    if (this.state.journal.get(row.path)?.state === "done") throw new Error(`${row.path} is recorded twice.`);
    this.state.journal.set(row.path, row);
    this.state.events.push(...events);
  }

  /** Takes effect in a later turn, in the order of the calls, as a commit does. */
  async #commit<T>(change: () => T): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    const result = change();
    this.history.push(structuredClone(this.state));
    return result;
  }
}
