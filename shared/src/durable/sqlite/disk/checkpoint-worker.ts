import { Database } from "bun:sqlite";

/**
 * A thread that brings a store's log into its file, which takes the disk some milliseconds for a
 * thousand pages and must not keep the event loop waiting.
 */

declare const self: Worker;

self.onmessage = ({ data: path }: MessageEvent<string>) => self.postMessage(checkpoint(path));

/** Why it failed; "" if it did not. What is in use is left for the next time. */
function checkpoint(path: string): string {
  try {
    using db = new Database(path, { readwrite: true, create: false });
    db.query("PRAGMA wal_checkpoint(PASSIVE)").get();
    return "";
  } catch (error) {
    return String(error);
  }
}
