import type { RunEvent } from "../../core/run.ts";

/**
 * Records at most that a body may be ahead of: one that only computes must let the store come
 * after.
 */
const longest = 64;

/** What a run has recorded without waiting for it: how far its body is ahead of the store. */
export class WriteBehindBuffer {
  readonly #writes = new Set<Promise<unknown>>();

  /** Adds a write; resolves at once, or, where there are too many, when all are on disk. */
  async add(write: Promise<unknown>): Promise<void> {
    this.#writes.add(write);
    const done = () => void this.#writes.delete(write);
    write.then(done, done);
    if (this.#writes.size >= longest) await this.written();
  }

  /**
   * Resolves when everything added so far is on disk, or never will be, because the run is no
   * longer ours.
   */
  async written(): Promise<void> {
    if (this.#writes.size > 0) await Promise.allSettled(this.#writes);
  }
}

/** Progress kept back at most, while the storage takes long. */
const kept = 1000;

/**
 * Shows progress only after the events that were emitted before it, which are still on their way to
 * the store.
 */
export class ProgressOrder {
  readonly #show: (event: RunEvent) => void;
  readonly #hurry: () => void;
  #committing = 0;
  #waiting: { readonly event: RunEvent; readonly isCurrent: () => boolean }[] = [];

  /** `hurry` has the events on their way committed soon. */
  constructor(show: (event: RunEvent) => void, hurry: () => void) {
    this.#show = show;
    this.#hurry = hurry;
  }

  /** Shows nothing until `commit` settles. */
  after(commit: Promise<unknown>): void {
    this.#committing++;
    const committed = () => {
      if (--this.#committing > 0) return;
      for (const { event, isCurrent } of this.#waiting.splice(0)) if (isCurrent()) this.#show(event);
    };
    commit.then(committed, committed);
  }

  /**
   * Shows it now or, if it is still current then, after what is being committed: progress of a step
   * is never shown after its end.
   */
  show(event: RunEvent, isCurrent: () => boolean): void {
    if (this.#committing === 0) this.#show(event);
    else if (this.#waiting.length < kept) {
      this.#waiting.push({ event, isCurrent });
      this.#hurry();
    }
  }
}
