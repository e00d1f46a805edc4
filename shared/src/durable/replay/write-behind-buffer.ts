/**
 * How many records a body may be ahead of the store: a body that only computes must let the store
 * catch up.
 */
const maxAhead = 64;

/** The writes a run did not wait for: how far its body is ahead of the store. */
export class WriteBehindBuffer {
  readonly #writes = new Set<Promise<unknown>>();

  /** Adds a write; resolves at once or, if there are too many, when all are on disk. */
  async add(write: Promise<unknown>): Promise<void> {
    this.#writes.add(write);
    const done = () => void this.#writes.delete(write);
    write.then(done, done);
    if (this.#writes.size >= maxAhead) await this.written();
  }

  /**
   * Resolves when everything added so far is on disk, or cannot be any more because the run is no
   * longer ours.
   */
  async written(): Promise<void> {
    if (this.#writes.size > 0) await Promise.allSettled(this.#writes);
  }
}
