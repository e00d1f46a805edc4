import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../../core/errors.ts";

const day = 24 * 60 * 60 * 1000;

/**
 * Removes what a killed process left half written: files and folders in `folder` unchanged for a
 * day, with names like these. A missing folder counts as empty.
 */
export async function removeStale(
  folder: string,
  { now = Date.now(), names = /^/ }: { readonly now?: number; readonly names?: RegExp } = {},
): Promise<void> {
  for (const name of (await readdir(folder).catch(unlessMissing)) ?? []) {
    if (!names.test(name)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(unlessMissing);
    if (found !== undefined && found.mtimeMs < now - day)
      await rm(path, { recursive: true, force: true }).catch(unlessMissing);
  }
}
