import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { holdFolder } from "./held-folder.ts";
import { isProtected } from "./protected-names.ts";
import { addStaged, replaceByStaged, stageFile } from "./staged-file.ts";
import { ownerOf, type WorkspacePath, workspacePathOf } from "./workspace-file.ts";

/**
 * Puts a file into a workspace, completely or not at all, creates the folders that lead to it and
 * gives it to the tools' user. For content from elsewhere. Replaces an existing file unless
 * `exclusive`. Returns the path relative to the root; rejects as `resolve` does, with `forbidden`
 * for protected names, and with `conflict` if `exclusive` and the name is taken.
 */
export async function saveFile(
  workspace: Workspace,
  path: string,
  content: Uint8Array | ReadableStream<Uint8Array>,
  options?: { readonly exclusive?: boolean },
): Promise<string> {
  const place = await workspacePathOf(workspace, path);
  if (isProtected(place.relative))
    throw new AppError(
      "forbidden",
      `The path ${path} is protected: what is in it would take effect outside the sandbox.`,
    );
  await putFile(workspace, place, content, options?.exclusive ?? false);
  return place.relative;
}

/** Like `saveFile`, for a path that needs no check, with permission bits where they matter. */
export async function putFile(
  workspace: Workspace,
  { folders, name }: WorkspacePath,
  content: Uint8Array | ReadableStream<Uint8Array>,
  exclusive: boolean,
  mode?: number,
): Promise<void> {
  const owner = await ownerOf(workspace);
  await using folder = await holdFolder(workspace.root, folders, owner);
  const staging = join(workspace.metaRoot, "staging");
  await mkdir(staging, { recursive: true, mode: 0o700 });
  const staged = join(staging, crypto.randomUUID());
  try {
    await stageFile(staged, content, owner, mode);
    await (exclusive ? addStaged : replaceByStaged)(staged, folder, name);
  } finally {
    await rm(staged, { force: true });
  }
}
