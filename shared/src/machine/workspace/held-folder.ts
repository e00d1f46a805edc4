import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError, errnoOf } from "../../core/errors.ts";

const openFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * The owner of new files and folders. Applied only if we are root; otherwise everything is ours
 * anyway.
 */
export type Owner = { readonly uid: number; readonly gid: number };

/**
 * A folder held open: operations below it stay inside it, even if something on the way to it is
 * renamed or replaced meanwhile.
 */
export interface HeldFolder extends AsyncDisposable {
  /**
   * A path of `name` in this folder that is valid while the folder is held; "" is the folder
   * itself. A symlink in the last place is not resolved.
   */
  at(name: string): string;
  /** Makes added, renamed and removed names survive a power cut. */
  sync(): Promise<void>;
}

/**
 * Opens `root` and then one name after the other, following no symlink below `root`. Creates
 * missing folders if given an owner for them. Rejects with `not_found` when a name is missing,
 * `forbidden` when one is not a folder.
 */
export async function holdFolder(root: string, names: readonly string[], create?: Owner): Promise<HeldFolder> {
  let handle = await open(root, openFolder);
  let path = root;
  for (const name of names) {
    const parent = handle;
    try {
      handle = await openBelow(anchor(parent, path), name, create);
    } finally {
      await parent.close();
    }
    path = join(path, name);
  }
  return {
    at: (name) => `${anchor(handle, path)}/${name === "" ? "." : name}`,
    sync: () => handle.sync(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * Linux reaches a held folder by its descriptor. Elsewhere the path must do: there our tools'
 * processes run as our own user.
 */
function anchor(handle: FileHandle, path: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
}

async function openBelow(parent: string, name: string, create: Owner | undefined): Promise<FileHandle> {
  const path = `${parent}/${name}`;
  try {
    const made = create !== undefined && (await makeFolder(path));
    const handle = await open(path, openFolder);
    if (made) await giveTo(handle, create).catch((error) => closeAndThrow(handle, error));
    return handle;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw new AppError("not_found", `The folder ${name} does not exist.`);
    if (errnoOf(error) === "EACCES") throw new AppError("forbidden", `The folder ${name} may not be entered.`);
    if (["ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? ""))
      throw new AppError("forbidden", `${name} is not a folder of the workspace.`);
    throw error;
  }
}

async function closeAndThrow(handle: FileHandle, error: unknown): Promise<never> {
  await handle.close();
  throw error;
}

async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Changes the owner of the open file, never of what its path may lead to by now. */
export async function giveTo(handle: FileHandle, owner: Owner): Promise<void> {
  if (process.getuid?.() === 0) await handle.chown(owner.uid, owner.gid);
}

/** A name in a folder. Symlinks are not followed: they are `other`, as devices and sockets are. */
export type FolderEntry = { readonly name: string; readonly kind: "file" | "folder" | "other" };

const { compare } = new Intl.Collator("en", { numeric: true });

/** The entries of a held folder in natural order: `part-2` before `part-10`. */
export async function entriesOf(folder: HeldFolder): Promise<FolderEntry[]> {
  const entries = await readdir(folder.at(""), { withFileTypes: true });
  return entries
    .map(
      (entry) =>
        ({ name: entry.name, kind: entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other" }) as const,
    )
    .sort((a, b) => compare(a.name, b.name));
}

/** Holds the folder; undefined when it is gone or no longer a folder. */
export async function holdIfThere(root: string, folders: readonly string[]): Promise<HeldFolder | undefined> {
  try {
    return await holdFolder(root, folders);
  } catch (error) {
    if (error instanceof AppError || errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}
