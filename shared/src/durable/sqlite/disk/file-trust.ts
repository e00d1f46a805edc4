import type { StoreConnection } from "./connection.ts";
import { isBusy, storageFailure } from "./storage-error.ts";
import { vacuum } from "./vacuum.ts";

/**
 * Whether what SQLite takes for being in the store's file is on the disk. After a checkpoint that
 * failed it may not be: the system takes for written what it could not write, and SQLite does not
 * write it again.
 */
export class FileTrust {
  readonly #path: string;
  /** The log whose checkpoint failed. */
  #log: string | undefined;
  #isRewritten = false;

  constructor(path: string) {
    this.#path = path;
  }

  get isLost(): boolean {
    return this.#log !== undefined;
  }

  /** A checkpoint failed on this connection, or beside it. */
  lose(connection: StoreConnection | undefined): void {
    this.#log ??= connection?.logId() ?? "";
    this.#isRewritten = false;
  }

  /**
   * Whether another process had the store open before this connection: then SQLite still counts a
   * part of the log as being in the file, or has begun another log since.
   */
  needsRewriting(connection: StoreConnection): boolean {
    if (this.#log === undefined || this.#isRewritten) return false;
    return connection.logged().inFile > 0 || connection.logId() !== this.#log;
  }

  /** Writes every page of the store into the log, so that the next checkpoint writes them all. */
  async rewrite(): Promise<void> {
    await vacuum({ path: this.#path });
    this.#isRewritten = true;
  }

  /**
   * Brings all of the log into the file and empties it, and the file is trusted again. Throws if
   * that cannot be done now.
   */
  bringInAll(connection: StoreConnection): void {
    try {
      if (!connection.emptyLog()) throw new Error("it is read while it has to be written");
    } catch (error) {
      if (storageFailure(error) !== undefined && !isBusy(error)) this.lose(connection);
      throw error;
    }
    this.#log = undefined;
  }
}
