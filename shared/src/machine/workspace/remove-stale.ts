import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";

const day = 24 * 60 * 60 * 1000;

/** Removes what a killed process left half written: files and folders in `folder` unchanged for a day. A missing folder is an empty one. */
export async function removeStale(folder: string, now = Date.now()): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    try {
      if ((await stat(path)).mtimeMs < now - day) await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
