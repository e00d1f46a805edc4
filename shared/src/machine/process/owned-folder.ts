import { chmodSync, mkdirSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";
import { isRunning, startOf } from "../kernel/process-table.ts";

const owned = /^(.*)-(\d+)-(\d+)-[\da-f]{8}$/;

/**
 * Creates a temporary folder of this process below `parent`, named after the process, so that the
 * next one can recognize what a killed one has left. Removes folders of the same `purpose` whose
 * process has ended. Others may traverse it, not list it, unless `mode` is another. The caller
 * removes it.
 */
export async function makeOwnedFolder(parent: string, purpose: string, mode = 0o711): Promise<string> {
  await sweepOwnedFolders(parent, purpose);
  const folder = nameFor(parent, purpose);
  await mkdir(folder, { mode: 0o700 });
  await chmod(folder, mode);
  return folder;
}

/** Like `makeOwnedFolder`, at once: what killed processes have left is removed afterwards. */
export function makeOwnedFolderSync(parent: string, purpose: string): string {
  const folder = nameFor(parent, purpose);
  mkdirSync(folder);
  chmodSync(folder, 0o711);
  sweepOwnedFolders(parent, purpose).catch(() => undefined);
  return folder;
}

/** Whether that is the name of a folder of ours whose process has ended. */
export function isOwnedByTheEnded(name: string): boolean {
  const [, , pid, startedAt] = owned.exec(name) ?? [];
  return pid !== undefined && !isRunning(Number(pid), Number(startedAt));
}

function nameFor(parent: string, purpose: string): string {
  return join(parent, `${purpose}-${process.pid}-${startOf(process.pid)}-${crypto.randomUUID().slice(0, 8)}`);
}

/**
 * Removes our own folders whose process has ended, or those of that purpose; not those of other
 * users: anyone can create names in a temporary folder.
 */
export async function sweepOwnedFolders(parent: string, purpose?: string): Promise<void> {
  for (const name of (await readdir(parent).catch(unlessMissing)) ?? []) {
    if (!isOwnedByTheEnded(name) || (purpose !== undefined && owned.exec(name)?.[1] !== purpose)) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(unlessMissing);
    if (found?.isDirectory() && found.uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}
