import type { RunEvent } from "../../core/runs/run.ts";

/**
 * How many records a body may be ahead of the store; a body that only computes must let the store
 * catch up.
 */
const longest = 64;

/** The writes a run did not wait for: how far its body is ahead of the store. */
export class WriteBehindBuffer {
  readonly #writes = new Set<Promise<unknown>>();

  /** Adds a write; resolves at once or, if there are too many, when all are on disk. */
  async add(write: Promise<unknown>): Promise<void> {
    this.#writes.add(write);
    const done = () => void this.#writes.delete(write);
    write.then(done, done);
    if (this.#writes.size >= longest) await this.written();
  }

  /**
   * Resolves when everything added so far is on disk, or cannot be any more because the run is no
   * longer ours.
   */
  async written(): Promise<void> {
    if (this.#writes.size > 0) await Promise.allSettled(this.#writes);
  }
}

/** How many progress items are held back while the storage is slow. */
const kept = 1000;

/** Shows progress only after the events emitted before it, which may not be committed yet. */
export class ProgressOrder {
  readonly #show: (event: RunEvent) => void;
  readonly #hurry: () => void;
  #committing = 0;
  #waiting: { readonly event: RunEvent; readonly isCurrent: () => boolean }[] = [];

  /** `hurry` has queued events committed soon. */
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
   * Shows the event now or after the current commit, if it is still current then: a step's progress
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
