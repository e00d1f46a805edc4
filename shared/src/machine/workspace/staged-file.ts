import { link, open, rename, rm } from "node:fs/promises";
import { AppError, errnoOf } from "../../core/errors.ts";
import { giveTo, type HeldFolder, type Owner } from "./held-folder.ts";

/**
 * Writes a complete new file and syncs it to the disk, where no tool can see it, so that one rename
 * can bring it into a workspace. Only permission bits are taken from `mode`. Replaces an existing
 * file with that name; on failure, removes the unfinished one.
 */
export async function stageFile(
  path: string,
  content: Uint8Array | ReadableStream<Uint8Array>,
  owner: Owner,
  mode = 0o644,
): Promise<void> {
  await rm(path, { force: true });
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) await handle.writeFile(chunk);
    await giveTo(handle, owner);
    await handle.chmod(mode & 0o777);
    await handle.sync();
    await handle.close();
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

/** Moves a staged file over `name` in one step; rejects with `conflict` if that is a folder. */
export async function replaceByStaged(staged: string, folder: HeldFolder, name: string): Promise<void> {
  try {
    await rename(staged, folder.at(name));
  } catch (error) {
    if (["EISDIR", "EBUSY"].includes(errnoOf(error) ?? "")) throw new AppError("conflict", `${name} is a folder.`);
    throw error;
  }
  await folder.sync();
}

/** Moves a staged file to `name`, which must be free; rejects with `conflict` otherwise. */
export async function addStaged(staged: string, folder: HeldFolder, name: string): Promise<void> {
  try {
    await link(staged, folder.at(name));
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw new AppError("conflict", `There is a ${name} already.`);
    throw error;
  }
  await rm(staged);
  await folder.sync();
}
