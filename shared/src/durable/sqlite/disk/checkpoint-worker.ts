import { constants, Database } from "bun:sqlite";
import { errnoOf } from "../../../core/errors.ts";

/**
 * A thread that brings a store's log into its file, which takes the disk some milliseconds for a
 * thousand pages and must not keep the event loop waiting.
 */

declare const self: Worker;

/** Why it failed, with SQLite's code; nothing if it did not. */
export type CheckpointAnswer = { readonly error?: string; readonly code?: string | undefined };

self.onmessage = ({ data: path }: MessageEvent<string>) => self.postMessage(checkpoint(path));

/** What is in use is left for the next time. */
function checkpoint(path: string): CheckpointAnswer {
  try {
    using db = new Database(path, { readwrite: true, create: false });
    // The last connection to a store that was found untrustworthy meanwhile keeps its log.
    db.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
    db.query("PRAGMA wal_checkpoint(PASSIVE)").get();
    return {};
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error), code: errnoOf(error) };
  }
}
