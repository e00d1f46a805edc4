import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { errnoOf } from "../../core/errno.ts";
import type { Workspace } from "../../core/workspace.ts";
import { giveTo, holdFolder, type Owner } from "./held-folder.ts";
import { ownerOf, placeOf } from "./workspace-file.ts";

/** Gives a file, or a folder with all that is in it, to the user of the workspace. Symlinks and hard-linked files stay as they are. */
export async function adoptInto(workspace: Workspace, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await ownerOf(workspace);
  const { folders, name } = await placeOf(workspace, path);
  await using folder = await holdFolder(workspace.root, folders);
  await adoptAt(folder.at(name), owner);
}

async function adoptAt(path: string, owner: Owner): Promise<void> {
  await using handle = await openAny(path);
  if (handle === undefined) return;
  const stats = await handle.stat();
  if (stats.isFile() && stats.nlink > 1) return;
  if (stats.isFile() || stats.isDirectory()) await giveTo(handle, owner);
  if (!stats.isDirectory()) return;
  const held = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
  for (const name of await readdir(held)) await adoptAt(`${held}/${name}`, owner);
}

async function openAny(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ELOOP", "ENOENT", "ENXIO"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
