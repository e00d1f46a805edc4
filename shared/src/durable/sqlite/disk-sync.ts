/**
 * Brings committed transactions to the disk off this thread, which would otherwise stand still for
 * every commit. Commits that come meanwhile share the next sync.
 */
export class DiskSync {
  readonly #sync: () => Promise<void>;
  readonly #onFailed: (error: unknown) => void;
  /** What is told when the next sync, and the one under way, are done. */
  #next: (() => void)[] = [];
  #underWay: (() => void)[] | undefined;
  #hasFailed = false;

  /** `onFailed` is called for a sync that failed; nothing is synced then before `done`. */
  constructor(sync: () => Promise<void>, onFailed: (error: unknown) => void) {
    this.#sync = sync;
    this.#onFailed = onFailed;
  }

  get isIdle(): boolean {
    return this.#underWay === undefined && this.#next.length === 0;
  }

  /** Whether what was committed may never reach the disk by another sync. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Calls `told` once what has just been committed is on disk. */
  committed(told: () => void): void {
    this.#next.push(told);
    if (this.#underWay === undefined && !this.#hasFailed) void this.#run();
  }

  /** Resolves once everything committed in this process so far is on disk. */
  async reached(): Promise<void> {
    const telling = this.#next.length > 0 ? this.#next : this.#underWay;
    if (telling === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    telling.push(resolve);
    await promise;
  }

  /** Everything is on disk by other means: the database itself was synced. */
  done(): void {
    this.#hasFailed = false;
    for (const told of this.#next.splice(0)) told();
  }

  async #run(): Promise<void> {
    while (this.#next.length > 0 && !this.#hasFailed) {
      this.#underWay = this.#next;
      this.#next = [];
      try {
        await this.#sync();
        for (const told of this.#underWay) told();
      } catch (error) {
        // After a failed sync the system takes what it could not write for written.
        this.#hasFailed = true;
        this.#next = [...this.#underWay, ...this.#next];
        this.#onFailed(error);
      } finally {
        this.#underWay = undefined;
      }
    }
  }
}
