import { Database } from "bun:sqlite";
import { errnoOf } from "../../../core/errors.ts";

/**
 * A thread that rewrites a store, or a copy of it, which takes seconds for a large one and must not
 * keep the event loop waiting.
 */

/**
 * The store's path, and that of the copy; the store itself is rewritten if it is left out. With
 * `release`, the runs in the copy of a run store are nobody's.
 */
export type VacuumRequest = { readonly path: string; readonly into?: string; readonly release?: boolean };

/** Why it failed, with SQLite's code; nothing if it did not. */
export type VacuumAnswer = { readonly error?: string; readonly code?: string | undefined };

/** Longer than any transaction of ours. */
const busyMs = 5000;

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<VacuumRequest>) => self.postMessage(vacuum(data));

function vacuum({ path, into, release = false }: VacuumRequest): VacuumAnswer {
  try {
    using db = new Database(path, { readwrite: true });
    db.run(`PRAGMA busy_timeout = ${busyMs}`);
    // The store's own connection brings it into the file, and says if the disk fails.
    db.run("PRAGMA wal_autocheckpoint = 0");
    if (into === undefined) db.run("VACUUM");
    else {
      db.run("VACUUM INTO ?", [into]);
      if (release) handBack(into);
    }
    return {};
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), code: errnoOf(error) };
  }
}

/** The workers of the store know nothing of its copy. */
function handBack(copy: string): void {
  using db = new Database(copy, { readwrite: true });
  db.run("DELETE FROM workers");
  db.run("UPDATE runs SET status = 'queued', owner = NULL, epoch = epoch + 1 WHERE owner IS NOT NULL");
}
