/** Records at most that a body may be ahead of: one that only computes must let the store come after. */
const longest = 64;

/** What a run has recorded without waiting for it: how far its body is ahead of the store. */
export class Trail {
  readonly #writes = new Set<Promise<unknown>>();

  /** Adds a write; resolves at once, or, where there are too many, when all are on disk. */
  async add(write: Promise<unknown>): Promise<void> {
    this.#writes.add(write);
    const done = () => void this.#writes.delete(write);
    write.then(done, done);
    if (this.#writes.size >= longest) await this.written();
  }

  /** Resolves when everything added so far is on disk, or never will be, because the run is no longer ours. */
  async written(): Promise<void> {
    if (this.#writes.size > 0) await Promise.allSettled(this.#writes);
  }
}
