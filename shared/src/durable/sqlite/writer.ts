import { AppError } from "../../core/errors.ts";
import type { EngineHealth, Log } from "../../core/runs/engine.ts";
import { type Entry, runBatch } from "./batch.ts";
import { LogCheckpoints } from "./disk/checkpoints.ts";
import { openConnection, type StoreConnection } from "./disk/connection.ts";
import { type CrashPoint, crash } from "./disk/crash-point.ts";
import { DiskSync } from "./disk/disk-sync.ts";
import { createFileSync, type SyncFile } from "./disk/file-sync.ts";
import { FileTrust } from "./disk/file-trust.ts";
import { isBusy, storageFailure } from "./disk/storage-error.ts";
import { busyPatienceMs, firstRetryMs, StorageWatch } from "./disk/storage-watch.ts";
import { SharedReads } from "./shared-reads.ts";
import type { Tables } from "./tables/tables.ts";
import { type Waiting, WriteQueue } from "./write-queue.ts";

/** Which store to write, and what happens around its transactions. */
export type WriterOptions = {
  readonly path: string;
  readonly log: Log;
  readonly crashAt?: CrashPoint;
  readonly syncFile?: SyncFile;
  /** Called whenever the store has been opened, before anything else. */
  readonly onOpened?: (tables: Tables) => void;
  /** Called after each commit. */
  readonly onCommitted?: (tables: Tables) => void;
  /** Called when the storage works again after a failure. */
  readonly onRecovered: () => void;
};

/**
 * The only access to the store in this process. Writes requested in one tick of the event loop are
 * committed in one transaction, in order, and resolve after its commit. If the storage fails,
 * uncommitted writes are kept and retried until it works; nothing new is accepted meanwhile.
 */
export class Writer {
  /** Early reads, which share a transaction. */
  readonly shared = new SharedReads(
    () => this.#open(),
    (run) => this.read(run, { early: true }),
  );
  readonly #options: WriterOptions;
  #connection: StoreConnection | undefined;
  readonly #queue = new WriteQueue({
    isPausing: () => this.#storage.isPausing || this.#checkpoints.isPausing || this.#rewriting !== undefined,
    commit: () => this.#flush(),
  });
  #closed = false;
  readonly #disk = new DiskSync(
    async () => {
      if (this.#connection === undefined) throw new Error("The store is closed.");
      await this.#connection.sync();
    },
    (error) => this.#storage.failed(error),
  );
  readonly #checkpoints: LogCheckpoints;
  readonly #syncFile = createFileSync(() => this.#checkpoints.isInThread);
  #transactions = 0;
  /** The data version before which everything is on disk. */
  #syncedVersion: number | undefined;
  readonly #storage: StorageWatch;
  readonly #trust: FileTrust;
  #rewriting: Promise<void> | undefined;

  /**
   * Throws only for a store of a newer version; any other failure is reported by `health` and
   * retried.
   */
  constructor(options: WriterOptions) {
    this.#options = options;
    this.#trust = new FileTrust(options.path);
    this.#storage = new StorageWatch({
      ...options,
      onRetry: () => this.#retry(),
      onRefusing: () => this.#queue.refuse(this.#storage.refusal()),
    });
    this.#checkpoints = new LogCheckpoints({
      path: options.path,
      checkpoint: () => this.#checkpoint(),
      pages: () => this.#connection?.logged().pages ?? 0,
      onResumed: () => this.#queue.hurry(),
      onFailed: (error) => this.#checkpointFailed(error),
    });
    try {
      this.#open();
    } catch (error) {
      if (error instanceof AppError) throw error;
      this.#storage.failed(error);
    }
  }

  /**
   * Commits `run`'s changes, however long the storage takes to work again. An error it throws
   * undoes only this write, and rejects. A `patient` write, which nobody waits for, shares the
   * commit of the next write if one follows soon.
   */
  write<T>(run: (tables: Tables) => T, { patient = false } = {}): Promise<T> {
    return this.#enqueue(run, { keep: true, patient });
  }

  /** Commits patient writes soon. */
  hurry(): void {
    this.#queue.hurry();
  }

  /** Like `write`, but rejects with `storage_unavailable` if the storage fails now. */
  offer<T>(run: (tables: Tables) => T): Promise<T> {
    if (this.#storage.isFailing) return Promise.reject(this.#storage.refusal());
    return this.#enqueue(run, { keep: false, patient: false });
  }

  /**
   * Reads data that is on disk, unless it may be `early`, for what nobody sees: then also what was
   * only just committed. Rejects with `storage_unavailable` if it cannot be read.
   */
  async read<T>(run: (tables: Tables) => T, { early = false } = {}): Promise<T> {
    for (const start = performance.now(); ; ) {
      try {
        const connection = this.#open();
        const value = run(connection.tables);
        if (!early) await this.#onDisk(connection);
        return value;
      } catch (error) {
        if (storageFailure(error) === undefined) throw error;
        if (!isBusy(error)) this.#storage.failed(error);
        if (!isBusy(error) || performance.now() - start > busyPatienceMs) throw this.#storage.refusal(error);
      }
      await Bun.sleep(firstRetryMs);
    }
  }

  /**
   * See StoreConnection.emptyLog; waits as long for others as a write does, while everything else
   * has its turn. Rejects if the storage fails.
   */
  async emptyLog(): Promise<boolean> {
    try {
      for (const start = performance.now(); ; await Bun.sleep(firstRetryMs)) {
        if (this.#open().emptyLog(0)) return true;
        if (performance.now() - start > busyPatienceMs) return false;
      }
    } catch (error) {
      this.#checkpointFailed(error);
      throw error;
    }
  }

  /** See StoreConnection.dataVersion; undefined while the storage cannot be read. */
  dataVersion(): number | undefined {
    try {
      return this.#connection?.dataVersion();
    } catch (error) {
      if (!isBusy(error)) this.#storage.failed(error);
      return undefined;
    }
  }

  health(): EngineHealth {
    return this.#storage.health();
  }

  /** Commits the queue, retrying for at most `withinMs` if the storage fails; rejects the rest. */
  async close(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (this.#queue.entries.length > 0 && performance.now() < deadline) await Bun.sleep(firstRetryMs);
    while (this.#disk.isBusy) await Bun.sleep(1);
    await this.#checkpoints.close();
    await this.#rewriting;
    this.#closed = true;
    this.#storage.close();
    this.#queue.close(this.#storage.refusal());
    this.#disk.close(this.#storage.refusal());
    this.#connection?.close({ keepLog: this.#trust.isLost });
    this.#connection = undefined;
  }

  #enqueue<T>(run: (tables: Tables) => T, how: Waiting): Promise<T> {
    if (this.#closed) return Promise.reject(new AppError("unavailable", "This engine is closed."));
    return this.#queue.add(run, how);
  }

  #flush(): void {
    if (this.#queue.entries.length === 0) return;
    let settles: readonly (() => void)[];
    try {
      settles = this.#commit(this.#queue.entries);
    } catch (error) {
      this.#connection?.rollback();
      this.#storage.failed(error);
      return;
    }
    const batch = this.#queue.take(settles.length);
    this.#storage.worked();
    this.#checkpoints.committed(batch.length);
    this.#disk.committed().then(
      () => {
        for (const settle of settles) settle();
      },
      (error) => {
        for (const entry of batch) entry.reject(error);
      },
    );
  }

  #checkpoint(): void {
    try {
      this.#connection?.checkpoint();
    } catch (error) {
      this.#checkpointFailed(error);
    }
  }

  /**
   * Unless others were in its way, nothing is written until the whole log is brought in anew: after
   * a failed sync the system takes what it could not write for written.
   */
  #checkpointFailed(error: unknown): void {
    if (isBusy(error) || error instanceof AppError) return;
    if (storageFailure(error) !== undefined) {
      this.#trust.lose(this.#connection);
      this.#storage.failed(error);
    } else this.#options.log.error({ err: error }, "The run store's log could not be brought into its file.");
  }

  /** Waits for what was just read: commits of this process, and perhaps of another. */
  async #onDisk(connection: StoreConnection): Promise<void> {
    if (this.#disk.hasFailed) throw this.#storage.refusal();
    const version = connection.dataVersion();
    if (version === this.#syncedVersion) return await this.#disk.reached();
    await this.#disk.committed();
    if (connection === this.#connection) this.#syncedVersion = version;
  }

  /**
   * Runs and commits what is queued, or as much of it as one batch may take; returns the functions
   * that settle the callers. Throws only if the storage failed.
   */
  #commit(queue: readonly Entry[]): (() => void)[] {
    const connection = this.#open();
    connection.begin();
    const settles = runBatch(connection, queue);
    const { crashAt } = this.#options;
    const crashes = ++this.#transactions === crashAt?.transaction;
    if (crashes && crashAt.when === "before") crash();
    connection.commit();
    if (crashes) crash();
    this.#options.onCommitted?.(connection.tables);
    return settles;
  }

  #open(): StoreConnection {
    if (this.#closed) throw new AppError("unavailable", "This engine is closed.");
    if (this.#connection !== undefined) return this.#connection;
    const connection = openConnection(this.#options.path, this.#options.syncFile ?? this.#syncFile);
    try {
      this.#options.onOpened?.(connection.tables);
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#syncedVersion = undefined;
    return connection;
  }

  /**
   * After a failure, reopens the file, which may have been replaced, and requires a write of some
   * size to succeed.
   */
  #retry(): void {
    if (this.#rewriting !== undefined) return;
    try {
      if (this.#storage.isFailing) {
        this.#connection?.close({ keepLog: this.#trust.isLost });
        this.#connection = undefined;
        this.#open().probe();
        if (this.#trust.needsRewriting(this.#open())) {
          this.#rewriting = this.#rewrite();
          return;
        }
        if (this.#disk.hasFailed || this.#trust.isLost) this.#trust.bringInAll(this.#open());
        this.#disk.done();
      }
    } catch (error) {
      this.#storage.failed(error);
      return;
    }
    if (this.#queue.entries.length > 0) this.#flush();
    else this.#storage.worked();
  }

  /** Writes the whole store anew, which other processes may have open, then tries again. */
  async #rewrite(): Promise<void> {
    const error: unknown = await this.#trust.rewrite().catch((thrown) => thrown);
    this.#rewriting = undefined;
    if (error === undefined) this.#retry();
    else this.#storage.failed(error);
  }
}
