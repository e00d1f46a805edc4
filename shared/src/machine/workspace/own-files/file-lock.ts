import { mkdir, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf, unlessMissing } from "../../../core/errors.ts";

/** A change takes milliseconds, so a process that holds the lock for longer than this has died. */
const staleMs = 5_000;

/**
 * Changes a file while no other change, in this process or another, holds its lock. Creates the
 * file's folder.
 */
export async function underLock(file: string, change: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  await mkdir(dirname(file), { recursive: true });
  for (let seen = { mtimeMs: 0, at: 0 }; !(await taken(lock)); ) {
    const held = await stat(lock).catch(unlessMissing);
    if (held !== undefined && held.mtimeMs !== seen.mtimeMs) seen = { mtimeMs: held.mtimeMs, at: performance.now() };
    if (held !== undefined && performance.now() - seen.at > staleMs) await rm(lock, { recursive: true, force: true });
    else await Bun.sleep(5);
  }
  try {
    await change();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return false;
  }
}
