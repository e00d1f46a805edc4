import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Workspace } from "../../core/workspace.ts";

/**
 * Keeps content by its SHA-256 where no tool can reach it. Not synced to the disk: after a power
 * cut it may be missing, never wrong.
 */
export async function keepContent(workspace: Workspace, sha256: string, content: Blob | Uint8Array): Promise<void> {
  const folder = folderOf(workspace);
  if (await renewed(join(folder, sha256))) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const arriving = join(folder, `.${crypto.randomUUID()}`);
  await Bun.write(arriving, content);
  await rename(arriving, join(folder, sha256));
}

/** The content with this hash; undefined when it was not kept or is damaged. */
export async function keptContent(workspace: Workspace, sha256: string): Promise<Uint8Array | undefined> {
  try {
    const bytes = await readFile(join(folderOf(workspace), sha256));
    return sha256Of(bytes) === sha256 ? bytes : undefined;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Removes content that is not among these hashes and was last kept before `time` (milliseconds
 * since 1970), and what a killed process left half written.
 */
export async function keepOnly(workspace: Workspace, hashes: ReadonlySet<string>, time: number): Promise<void> {
  for (const name of await readdir(folderOf(workspace))) {
    const path = join(folderOf(workspace), name);
    const found = await stat(path).catch(() => undefined);
    if (!hashes.has(name) && found !== undefined && found.mtimeMs < time) await rm(path, { force: true });
  }
}

/** Whether the content exists. If so, its age restarts, as if it had just been written. */
async function renewed(path: string): Promise<boolean> {
  try {
    const now = new Date();
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function folderOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "content");
}
