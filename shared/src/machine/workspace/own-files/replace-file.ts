import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { removeStale } from "./remove-stale.ts";

/**
 * Replaces one of our own files in one step that survives a power cut: readers see the old content
 * or the new, whole. Only the owner can read it. Not safe in folders that tool processes can write.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const staged = `${path}.${crypto.randomUUID()}`;
  try {
    await using file = await open(staged, "wx", 0o600);
    await file.writeFile(content);
    await file.sync();
    await rename(staged, path);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
  await using folder = await open(dirname(path), "r");
  await folder.sync();
  // What was killed on its way here, or to the file's lock.
  const names = new RegExp(`^${RegExp.escape(basename(path))}(\\.lock)?\\.[\\da-f-]{36}$`);
  await removeStale(dirname(path), { names }).catch(() => undefined);
}
