import { mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, unlessMissing } from "../../../core/errors.ts";

/** A change takes milliseconds, so a process that holds the lock for longer than this has died. */
const staleMs = 5_000;

/**
 * Changes a file while no other change, in this process or another, holds its lock. Creates the
 * file's folder.
 *
 * The lock is a folder with one file that bears its holder's name, put in place by a rename, which
 * replaces an empty folder and fails on any other. Whoever finds the holder dead removes the file
 * of that name, and so never the lock of one who has taken it since.
 */
export async function underLock(file: string, change: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  const holder = crypto.randomUUID();
  const staged = `${lock}.${holder}`;
  await mkdir(staged, { recursive: true });
  try {
    await writeFile(join(staged, holder), "");
    for (let seen = { holder: "", at: 0 }; !(await putInPlace(staged, lock)); ) {
      const [held = ""] = (await readdir(lock).catch(unlessMissing)) ?? [];
      if (held !== seen.holder) seen = { holder: held, at: performance.now() };
      if (held !== "" && performance.now() - seen.at > staleMs) await unlink(join(lock, held)).catch(unlessMissing);
      else await Bun.sleep(5);
    }
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    throw error;
  }
  try {
    await change();
  } finally {
    await unlink(join(lock, holder)).catch(unlessMissing);
    // Unless it has its next holder.
    await rmdir(lock).catch((error) => unlessErrno(error, "ENOTEMPTY", "EEXIST", "ENOENT"));
  }
}

/** Fails if a folder with a holder is in the way. */
async function putInPlace(staged: string, lock: string): Promise<boolean> {
  return rename(staged, lock).then(
    () => true,
    (error) => unlessErrno(error, "ENOTEMPTY", "EEXIST"),
  );
}

function unlessErrno(error: unknown, ...expected: readonly string[]): false {
  if (expected.includes(errnoOf(error) ?? "")) return false;
  throw error;
}
