import { readdir } from "node:fs/promises";
import { errnoOf } from "../../core/errno.ts";
import { AppError } from "../../core/errors.ts";
import { type HeldFolder, holdFolder } from "./held-folder.ts";

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

/** The folder, held, or undefined when it is gone or no folder any more. */
export async function holdIfThere(root: string, folders: readonly string[]): Promise<HeldFolder | undefined> {
  try {
    return await holdFolder(root, folders);
  } catch (error) {
    if (error instanceof AppError || errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}
