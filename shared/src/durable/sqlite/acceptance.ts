import type { RunEvent } from "../../core/runs/run.ts";
import { type Ending, type JournalRow, LeaseLost } from "../replay/run-store.ts";

/** What a run did before it was stored: its records in order, and how it ended, if it has. */
export type Beginning = {
  readonly records: readonly { readonly row: JournalRow; readonly events: readonly RunEvent[] }[];
  readonly ending: Ending | undefined;
};

/**
 * Whether a run that is executed already has been stored. Its body may compute meanwhile, since
 * what it writes is stored with it; it waits before anything that has effects or can be seen.
 */
export class Acceptance {
  /** Its `n` is 0, which no run has, until the transaction that stores the run has assigned one. */
  readonly lease: { n: number; readonly owner: string; readonly epoch: number };
  /** Resolves to whether the run is stored and this worker's. */
  readonly settled: Promise<boolean>;
  #outcome: boolean | undefined;
  readonly #settle: (isOurs: boolean) => void;
  readonly #records: Beginning["records"][number][] = [];
  #ending: Ending | undefined;
  #isOpen = true;
  #stored: Promise<void> | undefined;

  constructor(owner: string) {
    this.lease = { n: 0, owner, epoch: 1 };
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.settled = promise;
    this.#settle = resolve;
  }

  /** Undefined until it is settled. */
  get outcome(): boolean | undefined {
    return this.#outcome;
  }

  /**
   * Stores a record with the run and resolves once both are on disk, or rejects with LeaseLost.
   * Undefined if it has to be written after the run, on its own.
   */
  record(row: JournalRow, events: readonly RunEvent[]): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    this.#records.push({ row, events });
    return this.#onceStored();
  }

  /** Like `record`, for the run's end. */
  end(ending: Ending): Promise<void> | undefined {
    if (!this.#isOpen) return undefined;
    this.#ending = ending;
    return this.#onceStored();
  }

  /** From now on the run writes on its own: what follows keeps its order. */
  close(): void {
    this.#isOpen = false;
  }

  /** What is to be stored with the run; nothing is added to it any more. */
  beginning(): Beginning {
    this.close();
    return { records: this.#records, ending: this.#ending };
  }

  settle(isOurs: boolean): void {
    this.#outcome = isOurs;
    // A transaction that was rolled back may have assigned a number that another run has now.
    if (!isOurs) this.lease.n = 0;
    this.#settle(isOurs);
  }

  #onceStored(): Promise<void> {
    this.#stored ??= this.settled.then((isOurs) => {
      if (!isOurs) throw new LeaseLost("Another worker owns the run.");
    });
    return this.#stored;
  }
}
