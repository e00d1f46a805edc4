/** Those who wait until something may have changed; all go on then. */
export class Waiters {
  readonly #all = new Set<() => void>();

  /** Resolves when it is woken, or after this time. */
  async wait(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#all.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#all.delete(resolve);
  }

  wake(): void {
    for (const resolve of this.#all) resolve();
    this.#all.clear();
  }
}
