import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";
import { isRunning, startOf } from "../kernel/process-table.ts";

const owned = /^(.*)-(\d+)-(\d+)-[\da-f]{8}$/;

/**
 * Makes a folder of this process's own below `parent`, for what it needs for a while: named after
 * the process, so that the next one can tell what a killed one has left. Those of that `purpose`
 * whose process has ended are removed. Others may pass through it, not list it. Whoever makes it
 * removes it.
 */
export async function makeOwnedFolder(parent: string, purpose: string): Promise<string> {
  await sweepOwnedFolders(parent, purpose);
  const folder = join(parent, `${purpose}-${process.pid}-${startOf(process.pid)}-${crypto.randomUUID().slice(0, 8)}`);
  await mkdir(folder);
  await chmod(folder, 0o711);
  return folder;
}

/**
 * Removes the folders of that purpose whose process has ended, when they are our own: anyone can
 * make names in a temporary folder.
 */
async function sweepOwnedFolders(parent: string, purpose: string): Promise<void> {
  for (const name of (await readdir(parent).catch(unlessMissing)) ?? []) {
    const [, of, pid, startedAt] = owned.exec(name) ?? [];
    if (of !== purpose || isRunning(Number(pid), Number(startedAt))) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(unlessMissing);
    if (found?.isDirectory() && found.uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}
