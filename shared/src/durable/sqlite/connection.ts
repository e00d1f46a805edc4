import { Database } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { migrate } from "./tables/schema.ts";
import { prepareTables, type Tables } from "./tables/tables.ts";

/**
 * How long a statement may hold this thread while another process has the lock; the Writer tries
 * again after that.
 */
const busyMs = 200;

/** One open connection to the store: its statements, and the transaction they run in. */
export type Connection = {
  readonly tables: Tables;
  begin(): void;
  commit(): void;
  /**
   * Undoes what the transaction did; harmless when the error that called for it has undone it
   * already.
   */
  rollback(): void;
  /** Runs one part of a transaction; what it throws undoes that part only. */
  part<T>(work: () => T): T;
  /** Changes whenever another connection, of this process or another, commits. */
  dataVersion(): number;
  /** Fails where the next real write would fail. */
  probe(): void;
  close(): void;
};

/**
 * Opens the store, creating it readable for its owner only. Throws SQLite's error, or
 * `config_invalid` for a newer schema.
 */
export function openConnection(path: string): Connection {
  createPrivate(path);
  const db = new Database(path, { create: true, readwrite: true, strict: true });
  try {
    db.run(`PRAGMA busy_timeout = ${busyMs}`);
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = FULL");
    migrate(db, path);
    return connectionOf(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function connectionOf(db: Database): Connection {
  const [begin, commit, rollback] = [db.query("BEGIN IMMEDIATE"), db.query("COMMIT"), db.query("ROLLBACK")];
  const [save, release, undo] = [db.query("SAVEPOINT part"), db.query("RELEASE part"), db.query("ROLLBACK TO part")];
  const version = db.query<{ data_version: number }, []>("PRAGMA data_version");
  return {
    tables: prepareTables(db),
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    rollback: () => {
      if (db.inTransaction) rollback.run();
    },
    part(work) {
      save.run();
      try {
        const result = work();
        release.run();
        return result;
      } catch (error) {
        if (db.inTransaction) {
          undo.run();
          release.run();
        }
        throw error;
      }
    },
    dataVersion: () => version.get()?.data_version ?? 0,
    probe() {
      begin.run();
      db.run("INSERT INTO probe (room) VALUES (zeroblob(65536))");
      commit.run();
      db.run("DELETE FROM probe");
    },
    close: () => db.close(),
  };
}

/**
 * SQLite gives its side files the mode of the main one. Whatever is wrong here shows when SQLite
 * opens the file.
 */
function createPrivate(path: string): void {
  if (path === ":memory:") return;
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // A folder that is missing or may not be written: SQLITE_CANTOPEN says so.
  }
}
