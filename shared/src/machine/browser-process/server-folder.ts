import { readdirSync } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../core/errors.ts";
import { commandLineOf, isRunning, sendSignal, startOf } from "../kernel/process-table.ts";

/**
 * Creates a folder of this process below `parent`, for what a browser leaves on the disk. First
 * removes those of processes that have ended, and ends the browsers that outlived them.
 */
export async function makeServerFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  await sweepServerFolders(parent);
  const folder = join(parent, `${process.pid}-${startOf(process.pid)}-${crypto.randomUUID()}`);
  await mkdir(folder);
  // The browser runs as a different user, which has to traverse the folder; others cannot guess the
  // name.
  await chmod(folder, 0o711);
  return folder;
}

/** Removes the folders of processes that have ended, and ends the browsers that outlived them. */
export async function sweepServerFolders(parent: string): Promise<void> {
  for (const name of (await readdir(parent).catch(unlessMissing)) ?? []) {
    const [pid, startedAt] = /^(\d+)-(\d+)-[\da-f-]{36}$/.exec(name)?.slice(1).map(Number) ?? [];
    if (pid === undefined || startedAt === undefined || isRunning(pid, startedAt)) continue;
    endProcessesOf(name);
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

/**
 * Ends every process whose command line names the folder: the browsers themselves, whose children
 * end with them.
 */
export function endProcessesOf(folder: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").map(Number))
    if (Number.isInteger(pid) && pid !== process.pid && commandLineOf(pid).includes(folder)) sendSignal(pid, "SIGKILL");
}
