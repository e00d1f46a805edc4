import { fdatasync, fdatasyncSync } from "node:fs";
import { promisify } from "node:util";

/** Brings what was written to a file to the disk. */
export type SyncFile = (file: number) => Promise<void>;

/** A sync this quick costs the event loop less than waking another thread and being woken by it. */
const quickMs = 1;
/** By what factor the expected duration shrinks with each sync in the thread pool. */
const decay = 15 / 16;

const inThreadPool: SyncFile = promisify(fdatasync);

/**
 * Syncs on this thread while the disk answers at once, and off it for a while after a sync that
 * kept the event loop waiting, and while something else syncs the disk.
 */
export function createFileSync(isDiskInUse: () => boolean = () => false): SyncFile {
  let expectedMs = 0;
  return async (file) => {
    const isInUse = isDiskInUse();
    if (isInUse || expectedMs > quickMs) {
      if (!isInUse) expectedMs *= decay;
      return await inThreadPool(file);
    }
    const begun = performance.now();
    fdatasyncSync(file);
    expectedMs = performance.now() - begun;
  };
}
