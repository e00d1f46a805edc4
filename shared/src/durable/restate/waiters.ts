/** Those who wait until something may have changed; of several the lowest rank goes on first. */
export class Waiters {
  readonly #all = new Map<() => void, string>();

  /** Resolves when it is woken, or after this time. */
  async wait(milliseconds: number, rank = ""): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#all.set(resolve, rank);
    await promise;
    clearTimeout(timer);
    this.#all.delete(resolve);
  }

  wake(): void {
    const byRank = [...this.#all].toSorted(([, one], [, other]) => (one < other ? -1 : 1));
    this.#all.clear();
    for (const [resolve] of byRank) resolve();
  }
}
