import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { AppError, errnoOf } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { type HeldFolder, holdFolder, type Owner } from "./held-folder.ts";

/**
 * A path of a workspace, split: the folders that lead to it from the root, and its last name (""
 * for the root itself).
 */
export type WorkspacePath = { readonly folders: readonly string[]; readonly name: string; readonly relative: string };

/** A regular file of a workspace, open for reading. */
export interface OpenFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly stats: Stats;
  readonly place: WorkspacePath;
  /**
   * All of its content; undefined if that is more than `most` bytes. A program may let it grow at
   * any moment, so its size when it was opened is no bound.
   */
  read(most: number): Promise<Buffer<ArrayBuffer> | undefined>;
}

/** Where a `path` that a model gave is in the workspace; rejects as `Workspace.resolve` does. */
export async function workspacePathOf(workspace: Workspace, path: string): Promise<WorkspacePath> {
  const inside = relative(workspace.root, await workspace.resolve(path));
  const names = inside.split(sep);
  return { folders: names.slice(0, -1), name: names.at(-1) ?? "", relative: inside };
}

/**
 * What a path of a workspace is: `special` is a device, FIFO, socket or symlink that appeared a
 * moment ago.
 */
export async function kindOf(workspace: Workspace, path: string): Promise<"file" | "folder" | "special" | "missing"> {
  try {
    const stats = await lstat(await workspace.resolve(path));
    if (stats.isFile()) return "file";
    return stats.isDirectory() ? "folder" : "special";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return "missing";
    throw error;
  }
}

/**
 * Opens a file for reading. A symlink that is swapped in meanwhile cannot lead outside, and a FIFO
 * cannot block. Rejects with `not_found`; with `unsupported` for anything but a regular file; with
 * `forbidden` for a hard link to another user's file.
 */
export async function openFile(workspace: Workspace, path: string): Promise<OpenFile> {
  const place = await workspacePathOf(workspace, path);
  await using folder = await holdFolder(workspace.root, place.folders);
  const { handle, stats } = await openRegular(folder, place.name, path, await ownerOf(workspace));
  const read = (most: number) => readWithin(handle, stats.size, most);
  return { handle, stats, place, read, [Symbol.asyncDispose]: () => handle.close() };
}

async function readWithin(
  handle: FileHandle,
  expected: number,
  most: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const pieces: Buffer[] = [];
  for (let length = 0; expected <= most; ) {
    // One byte more than is left shows that there is more.
    const piece = Buffer.allocUnsafe(Math.min(Math.max(expected - length, 0) + leastPiece, most - length + 1));
    const { bytesRead } = await handle.read(piece, 0, piece.length, length);
    if (bytesRead === 0) return Buffer.concat(pieces, length);
    length += bytesRead;
    if (length > most) return undefined;
    pieces.push(piece.subarray(0, bytesRead));
  }
  return undefined;
}

const leastPiece = 4096;

/**
 * Like `openFile`, for a name in a folder that is already held. `shown` is the path for error
 * texts.
 */
export async function openRegular(
  folder: HeldFolder,
  name: string,
  shown: string,
  owner: Owner,
): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
  const handle = await openNoFollow(folder.at(name), shown);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new AppError("unsupported", `The path ${shown} is not a regular file.`);
    if (stats.nlink > 1 && stats.uid !== owner.uid)
      throw new AppError("forbidden", `The path ${shown} is a link to a file outside the workspace.`);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openNoFollow(path: string, shown: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new AppError("not_found", `The path ${shown} does not exist.`);
    if (code === "ELOOP") throw new AppError("forbidden", `The path ${shown} is outside the workspace.`);
    if (code === "EACCES") throw new AppError("forbidden", `The path ${shown} may not be read.`);
    if (code === "ENXIO") throw new AppError("unsupported", `The path ${shown} is not a regular file.`);
    throw error;
  }
}

/** The owner of a workspace's files: the user its tools' processes run as. */
export async function ownerOf(workspace: Workspace): Promise<Owner> {
  const { uid, gid } = await stat(workspace.root);
  return { uid, gid };
}
