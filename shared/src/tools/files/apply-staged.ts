import { rm } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { type HeldFolder, holdFolder } from "../../machine/workspace/held-folder.ts";
import { addStaged, replaceByStaged } from "../../machine/workspace/staged-file.ts";
import { openRegular, ownerOf, type WorkspacePath } from "../../machine/workspace/workspace-file.ts";

/** The SHA-256 of a file's content; null for a missing file. */
export type ContentHash = string | null;

/**
 * Moves a staged file to its place or, when `to` is null, removes the file there; the staged file
 * is gone afterwards. Returns false, having done nothing, when the file there is not what `from`
 * says.
 */
export async function applyStaged(
  workspace: Workspace,
  place: WorkspacePath,
  staged: string,
  { from, to }: { readonly from: ContentHash; readonly to: ContentHash },
): Promise<boolean> {
  const owner = await ownerOf(workspace);
  await using folder = await holdFolder(workspace.root, place.folders, to === null ? undefined : owner);
  if ((await hashIn(folder, place.name, workspace)) !== from) return false;
  try {
    if (to === null) await rm(folder.at(place.name)).then(() => folder.sync());
    else await (from === null ? addStaged : replaceByStaged)(staged, folder, place.name);
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") return false;
    throw error;
  }
  await rm(staged, { force: true });
  return true;
}

/** The hash of the file at a place now; undefined when it is not a regular file. */
export async function currentHash(workspace: Workspace, place: WorkspacePath): Promise<ContentHash | undefined> {
  try {
    await using folder = await holdFolder(workspace.root, place.folders);
    return await hashIn(folder, place.name, workspace);
  } catch (error) {
    if (error instanceof AppError) return error.code === "not_found" ? null : undefined;
    throw error;
  }
}

async function hashIn(folder: HeldFolder, name: string, workspace: Workspace): Promise<ContentHash | undefined> {
  try {
    const { handle } = await openRegular(folder, name, name, await ownerOf(workspace));
    await using _ = handle;
    const hash = new Bun.CryptoHasher("sha256");
    for await (const chunk of handle.readableWebStream()) hash.update(chunk);
    return hash.digest("hex");
  } catch (error) {
    if (error instanceof AppError) return error.code === "not_found" ? null : undefined;
    throw error;
  }
}
