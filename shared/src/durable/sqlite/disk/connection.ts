import { constants, Database } from "bun:sqlite";
import { close, closeSync, existsSync, openSync, readSync } from "node:fs";
import type { KnownRuns } from "../tables/known-runs.ts";
import { migrate } from "../tables/schema.ts";
import { prepareTables, type Tables } from "../tables/tables.ts";
import { createFileSync, type SyncFile } from "./file-sync.ts";

/**
 * How long a statement may block this thread while another process has the lock; then the Writer
 * retries.
 */
const busyMs = 200;

/** One open connection to the store: its statements, and the transaction they run in. */
export type StoreConnection = {
  readonly tables: Tables;
  begin(): void;
  commit(): void;
  /** Rolls the transaction back; harmless if the error has already done so. */
  rollback(): void;
  /** Runs reads that all see the store as it is at the first of them. */
  readTogether(reads: () => void): void;
  /** Runs one part of a transaction; an error undoes only that part. */
  part<T>(work: () => T): T;
  /** Changes whenever another connection, of this process or another, commits. */
  dataVersion(): number;
  /** Fails where the next real write would fail. */
  probe(): void;
  /** Resolves when everything committed before this call, by any process, is on disk. */
  sync(): Promise<void>;
  /** Moves what no reader is in the way of from the log into the file, which is then begun anew. */
  checkpoint(): void;
  /** How many pages the log has, and how many of them SQLite takes for being in the file. */
  logged(): { readonly pages: number; readonly inFile: number };
  /** What this log has in common with no other that the store has had. */
  logId(): string;
  /**
   * Moves everything from the log into the file and empties the log. False if a reader or writer is
   * still in the way after `waitMs`, in which this thread stands still.
   */
  emptyLog(waitMs?: number): boolean;
  /**
   * With `keepLog` the log stays as it is: where this was the last connection of any process, the
   * next one brings all of it into the file again.
   */
  close(options?: { readonly keepLog?: boolean }): void;
};

/**
 * Opens the store, creating it readable only by its owner. Throws SQLite's error, or
 * `config_invalid` for a newer schema.
 */
export function openConnection(path: string, syncFile: SyncFile = createFileSync()): StoreConnection {
  createPrivate(path);
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  try {
    waitFor(db, busyMs);
    db.run("PRAGMA journal_mode = WAL");
    // A commit is synced by `sync`; what SQLite itself must sync, around checkpoints, it does.
    db.run("PRAGMA synchronous = NORMAL");
    // Within a commit SQLite would keep to itself that the disk failed.
    db.run("PRAGMA wal_autocheckpoint = 0");
    // What is deleted or replaced is overwritten.
    db.run("PRAGMA secure_delete = ON");
    migrate(db, path);
    return connectionOf(db, path, syncFile);
  } catch (error) {
    db.close();
    throw error;
  }
}

function connectionOf(db: Database, path: string, syncFile: SyncFile): StoreConnection {
  const log = path === ":memory:" ? undefined : openSync(`${path}-wal`, "r");
  let syncing: Promise<void> = Promise.resolve();
  const checkpoint = db.query("PRAGMA wal_checkpoint(PASSIVE)");
  const empty = db.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)");
  const logged = db.query<{ log: number; checkpointed: number }, []>("PRAGMA wal_checkpoint(NOOP)");
  const version = db.query<{ data_version: number }, []>("PRAGMA data_version");
  const tables = prepareTables(db);
  const dataVersion = () => version.get()?.data_version ?? 0;
  const transactions = transactionsOf(db, tables.knownRuns, dataVersion);
  return {
    tables,
    ...transactions,
    dataVersion,
    probe() {
      transactions.begin();
      db.run("INSERT INTO probe (room) VALUES (zeroblob(65536))");
      transactions.commit();
      db.run("DELETE FROM probe");
    },
    checkpoint: () => void checkpoint.get(),
    logged() {
      const { log: pages = 0, checkpointed: inFile = 0 } = logged.get() ?? {};
      return { pages, inFile };
    },
    logId: () => (log === undefined ? "" : saltsOf(log)),
    emptyLog(waitMs = busyMs) {
      waitFor(db, waitMs);
      try {
        return empty.get()?.busy === 0;
      } finally {
        waitFor(db, busyMs);
      }
    },
    sync() {
      if (log !== undefined) syncing = syncFile(log);
      return syncing;
    },
    close({ keepLog = false } = {}) {
      if (keepLog) db.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
      db.close();
      const release = () => log !== undefined && close(log);
      syncing.then(release, release);
    },
  };
}

/** Transactions, which tell what is known of runs how they began and ended. */
function transactionsOf(
  db: Database,
  knownRuns: KnownRuns,
  dataVersion: () => number,
): Pick<StoreConnection, "begin" | "commit" | "rollback" | "readTogether" | "part"> {
  const [begin, commit, rollback] = [db.query("BEGIN IMMEDIATE"), db.query("COMMIT"), db.query("ROLLBACK")];
  const beginReading = db.query("BEGIN");
  const [save, release, undo] = [db.query("SAVEPOINT part"), db.query("RELEASE part"), db.query("ROLLBACK TO part")];
  return {
    begin() {
      begin.run();
      knownRuns.begun(dataVersion());
    },
    commit() {
      commit.run();
      knownRuns.ended();
    },
    rollback() {
      knownRuns.forgetAll();
      knownRuns.ended();
      if (db.inTransaction) rollback.run();
    },
    readTogether(reads) {
      beginReading.run();
      try {
        knownRuns.begun(dataVersion());
        reads();
      } finally {
        knownRuns.ended();
        if (db.inTransaction) commit.run();
      }
    },
    part(work) {
      save.run();
      try {
        const result = work();
        release.run();
        return result;
      } catch (error) {
        knownRuns.forgetAll();
        if (db.inTransaction) {
          undo.run();
          release.run();
        }
        throw error;
      }
    },
  };
}

/** The two random numbers in the head of a log, which it gets when it is begun. */
function saltsOf(log: number): string {
  const salts = Buffer.alloc(8);
  readSync(log, salts, 0, salts.length, 16);
  return salts.toString("hex");
}

/** Has each statement wait so long for others that are in its way. */
function waitFor(db: Database, ms: number): void {
  db.run(`PRAGMA busy_timeout = ${ms}`);
}

/**
 * Creates the file with mode 600, which SQLite copies to its side files. One that is there is left
 * alone: closing it would take away the locks that this process has on it. Errors here surface when
 * SQLite opens the file.
 */
function createPrivate(path: string): void {
  if (path === ":memory:" || existsSync(path)) return;
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // A missing or read-only folder: SQLITE_CANTOPEN reports it.
  }
}
