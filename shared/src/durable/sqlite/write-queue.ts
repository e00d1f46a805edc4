import type { Entry } from "./batch.ts";
import type { Tables } from "./tables/tables.ts";

/** How long a patient write waits for another write to share its commit. */
const patienceMs = 10;

/** What a queue asks of who commits it. */
type Committer = {
  /** Whether nothing is to be committed for now; who says so commits again by itself. */
  readonly isPausing: () => boolean;
  /** Commits what waits, or as much as it can, which it takes. */
  readonly commit: () => void;
};

/** Whether a write waits until the storage works again, and for another to share its commit. */
export type Waiting = { readonly keep: boolean; readonly patient: boolean };

/** Writes that wait for a transaction. Those of one tick of the event loop share it. */
export class WriteQueue {
  readonly #committer: Committer;
  #entries: Entry[] = [];
  #isScheduled = false;
  #isClosed = false;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(committer: Committer) {
    this.#committer = committer;
  }

  /** In the order in which they came. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /**
   * Resolves with what `run` returns once that is committed. A `patient` one waits a moment for
   * another.
   */
  add<T>(run: (tables: Tables) => T, { keep, patient }: Waiting): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#entries.push({ run, keep, resolve, reject });
      if (patient) this.#patience ??= setTimeout(() => this.#endPatience(), patienceMs);
      else this.hurry();
    });
  }

  /** Has what waits, if anything, committed soon. */
  hurry(): void {
    if (this.#entries.length === 0 || this.#isScheduled || this.#committer.isPausing()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#committer.isPausing() && !this.#isClosed) this.#committer.commit();
    });
  }

  /** Takes the first ones, which are being committed; the others follow soon. */
  take(count: number): readonly Entry[] {
    const taken = this.#entries.splice(0, count);
    this.#endPatience();
    return taken;
  }

  /** Rejects those that must not wait until the storage works again. */
  refuse(reason: Error): void {
    const refused = this.#entries.filter((entry) => !entry.keep);
    this.#entries = this.#entries.filter((entry) => entry.keep);
    for (const entry of refused) entry.reject(reason);
  }

  /** Rejects all; nothing is committed any more. */
  close(reason: Error): void {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    for (const entry of this.#entries.splice(0)) entry.reject(reason);
  }

  #endPatience(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.hurry();
  }
}
