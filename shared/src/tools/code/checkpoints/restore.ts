import { rm, rmdir } from "node:fs/promises";
import { AppError, errnoOf } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { holdFolder } from "../../../machine/workspace/held-folder.ts";
import { keptContent } from "../../../machine/workspace/kept-content.ts";
import { putFile } from "../../../machine/workspace/save-file.ts";
import { type WorkspacePath, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import type { CheckpointFile, FileDifference } from "./checkpoint.ts";

/**
 * Restores files from `after` to `before`. Nothing is touched when some content no longer exists
 * (`not_found`). Files that something else changes meanwhile are overwritten; a repetition after a
 * crash completes what was started.
 */
export async function restore(workspace: Workspace, changes: readonly FileDifference[]): Promise<void> {
  for (const { path, before } of changes)
    if (before !== undefined && (await keptContent(workspace, before.sha256)) === undefined)
      throw new AppError("not_found", `The former content of ${path} is not kept any more; nothing was restored.`);
  // A file to remove may be where a folder has to be.
  for (const { path, before } of changes) if (before === undefined) await remove(workspace, path);
  for (const { path, before } of changes) if (before !== undefined) await bringBack(workspace, path, before);
}

async function bringBack(workspace: Workspace, path: string, file: CheckpointFile): Promise<void> {
  const place = await checkedPlace(workspace, path);
  const content = await keptContent(workspace, file.sha256);
  if (content !== undefined) await putFile(workspace, place, content, false, file.executable ? 0o755 : 0o644);
}

/** Removes a file, and the folders that become empty. */
async function remove(workspace: Workspace, path: string): Promise<void> {
  const { folders, name } = await checkedPlace(workspace, path);
  if (!(await removed(workspace, folders, name, rm))) return;
  for (let depth = folders.length; depth > 0; depth--) {
    if (!(await removed(workspace, folders.slice(0, depth - 1), folders[depth - 1] ?? "", rmdir))) return;
  }
}

async function removed(
  workspace: Workspace,
  folders: readonly string[],
  name: string,
  act: (path: string) => Promise<void>,
): Promise<boolean> {
  try {
    await using folder = await holdFolder(workspace.root, folders);
    await act(folder.at(name));
    return true;
  } catch (error) {
    if (error instanceof AppError || ["ENOENT", "ENOTEMPTY", "EISDIR"].includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

async function checkedPlace(workspace: Workspace, path: string): Promise<WorkspacePath> {
  const place = await workspacePathOf(workspace, path);
  if (place.relative === path) return place;
  throw new AppError("conflict", `${path} is reached through a link now, so it is not restored.`);
}
