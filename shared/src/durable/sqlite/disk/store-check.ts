import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { AppError } from "../../../core/errors.ts";
import { isGone, ownIdentity, type ProcessIdentity } from "../process-identity.ts";
import { checkVersion } from "../tables/schema.ts";
import { storageFailure } from "./storage-error.ts";

type Worker = { readonly host: string; readonly pid: number; readonly process_start: string };

/**
 * How many processes of this machine execute runs of a store. The file must exist; one that is no
 * store has none.
 */
export function workersOf(path: string): number {
  const own = ownIdentity();
  return read(path, 0, (db) => {
    const workers = db.query<Worker, []>("SELECT host, pid, process_start FROM workers").all();
    const identities = workers.map(
      ({ process_start: processStart, ...rest }): ProcessIdentity => ({ ...rest, processStart }),
    );
    return identities.filter((one) => one.host === own.host && !isGone(one, own)).length;
  });
}

/** Whether the file is a store without damage. */
export function isSound(path: string): boolean {
  return read(path, false, (db) => {
    db.query("SELECT 1 FROM runs LIMIT 1").get();
    const [first] = db.query<{ quick_check: string }, []>("PRAGMA quick_check").all();
    return first?.quick_check === "ok";
  });
}

/**
 * Why the store cannot be used, found by opening it and changing nothing; undefined for one that
 * can, or is not there yet. Damage further inside is not looked for.
 */
export function storeFailure(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    using db = new Database(path, { readwrite: true });
    db.run("PRAGMA busy_timeout = 5000");
    checkVersion(db, path);
    return undefined;
  } catch (error) {
    const reason = storageFailure(error);
    const remedy = reason?.includes("damaged") ? " Put a good copy in its place." : "";
    if (reason !== undefined) return `The run store cannot be used: ${reason}.${remedy}`;
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

function read<T>(path: string, otherwise: T, look: (db: Database) => T): T {
  try {
    using db = new Database(path, { readwrite: true });
    db.run("PRAGMA busy_timeout = 5000");
    return look(db);
  } catch {
    return otherwise;
  }
}
