/**
 * Brings committed transactions to the disk off this thread, which would otherwise stand still for
 * every commit. Commits that come meanwhile share the next sync.
 */
export class DiskSync {
  readonly #sync: () => Promise<void>;
  readonly #onFailed: (error: unknown) => void;
  #next: PromiseWithResolvers<void> | undefined;
  #underWay: PromiseWithResolvers<void> | undefined;
  #hasFailed = false;

  /** `onFailed` is called for a sync that failed; nothing is synced then before `done`. */
  constructor(sync: () => Promise<void>, onFailed: (error: unknown) => void) {
    this.#sync = sync;
    this.#onFailed = onFailed;
  }

  /** Whether commits are on their way to the disk. */
  get isBusy(): boolean {
    return !this.#hasFailed && (this.#underWay ?? this.#next) !== undefined;
  }

  /** Whether what was committed may never reach the disk by another sync. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Syncs; resolves once what has just been committed is on disk. */
  committed(): Promise<void> {
    this.#next ??= Promise.withResolvers();
    const { promise } = this.#next;
    if (this.#underWay === undefined && !this.#hasFailed) void this.#run();
    return promise;
  }

  /** Resolves once everything committed in this process so far is on disk. */
  async reached(): Promise<void> {
    await (this.#next ?? this.#underWay)?.promise;
  }

  /** Everything is on disk by other means: the database itself was synced. */
  done(): void {
    this.#hasFailed = false;
    this.#next?.resolve();
    this.#next = undefined;
  }

  /** Tells those who wait that they will never know. */
  close(reason: unknown): void {
    this.#next?.reject(reason);
    this.#underWay?.reject(reason);
  }

  async #run(): Promise<void> {
    while (this.#next !== undefined && !this.#hasFailed) {
      const synced = this.#next;
      this.#underWay = synced;
      this.#next = undefined;
      try {
        await this.#sync();
        synced.resolve();
      } catch (error) {
        // After a failed sync the system takes what it could not write for written.
        this.#hasFailed = true;
        this.#keep(synced);
        this.#onFailed(error);
      } finally {
        this.#underWay = undefined;
      }
    }
  }

  /** Those of a sync that failed wait with those of the next. */
  #keep(failed: PromiseWithResolvers<void>): void {
    const later = this.#next;
    this.#next = failed;
    if (later !== undefined) failed.promise.then(later.resolve, later.reject);
  }
}
