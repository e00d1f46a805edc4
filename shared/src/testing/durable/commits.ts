import { readFileSync } from "node:fs";

const headerBytes = 32;
const frameHeaderBytes = 24;

/** How many transactions the write-ahead log of a store holds: those since its last checkpoint, of which a small new store has had none. */
export function commitsIn(storePath: string): number {
  const log = readFileSync(`${storePath}-wal`);
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8);
  let commits = 0;
  // The last frame of a transaction, and no other, tells the size of the database after it.
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    if (log.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}
