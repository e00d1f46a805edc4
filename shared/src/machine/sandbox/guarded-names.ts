import { constants } from "node:fs";
import { chmod, open, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Names in a workspace that something outside the sandbox would read or run later: shells, editors,
 * other agents, this system's own configuration. Files with these names are read-only while a
 * sandbox runs, even when they do not exist yet.
 */
export const guardedFiles: readonly string[] = [".bashrc", ".bash_profile", ".profile", ".mcp.json"];

const ownerMayAll = 0o700;
const { O_NOFOLLOW } = constants;
/** Node does not export this flag. */
const O_PATH = 0o10000000;

/**
 * Restores the owner's permissions on a folder, without which nothing in it can be mounted. Follows
 * no link.
 */
export async function letOwnerIn(folder: string): Promise<void> {
  const held = await open(folder, O_PATH | O_NOFOLLOW);
  try {
    const stats = await held.stat();
    const { mode } = stats;
    const ours = process.getuid?.() === 0 || stats.uid === process.getuid?.();
    if (ours && stats.isDirectory() && (mode & ownerMayAll) !== ownerMayAll)
      await chmod(`/proc/self/fd/${held.fd}`, (mode & 0o7777) | ownerMayAll);
  } finally {
    await held.close();
  }
}

/**
 * Returns those of the paths, relative to a workspace, that are only placeholders there, or were a
 * moment ago.
 */
export async function placeholdersAmong(workspace: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = paths
    .filter((path) => guardedFiles.includes(path))
    .map(async (path) => ((await stat(join(workspace, path)).catch(() => undefined))?.size ? [] : [path]));
  return new Set((await Promise.all(found)).flat());
}
