import { lstat } from "node:fs/promises";
import { errnoOf } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { entriesOf, holdIfThere } from "./held-folder.ts";

/**
 * A regular file of a workspace: path relative to the root, size in bytes, last change of its
 * content in milliseconds since 1970, and whether its owner may execute it.
 */
export type ListedFile = {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number;
  readonly executable: boolean;
};

/** `complete` is false when a bound cut the listing short. */
export type Listing = { readonly files: readonly ListedFile[]; readonly complete: boolean };

type ListOptions = {
  readonly most?: number;
  readonly depth?: number;
  /** Names of additional folders to leave out. */
  readonly without?: ReadonlySet<string>;
};

/** Our own files, caches and version history: nothing that a task would hand over. */
const skipped = new Set([
  ".manyhands",
  ".git",
  ".bun",
  ".cache",
  ".config",
  ".local",
  ".npm",
  ".tmp",
  ".venv",
  "node_modules",
  "__pycache__",
]);

/** Whether a folder is a virtual environment of Python, or a hidden cache, as of a test runner. */
function isMadeByTools(name: string, entries: readonly { readonly name: string }[]): boolean {
  const holds = (mark: string) => entries.some((entry) => entry.name === mark);
  return holds("pyvenv.cfg") || (name.startsWith(".") && holds("CACHEDIR.TAG"));
}

/**
 * The regular files of a workspace, folder by folder in natural order. Follows no symlink. Stops at
 * 2,000 files and a depth of 12 folders by default.
 */
export async function listFiles(
  workspace: Workspace,
  { most = 2000, depth = 12, without }: ListOptions = {},
): Promise<Listing> {
  const files: ListedFile[] = [];
  const waiting: (readonly string[])[] = [[]];
  let complete = true;
  for (let folders = waiting.shift(); folders !== undefined; folders = waiting.shift()) {
    await using folder = await holdIfThere(workspace.root, folders);
    if (folder === undefined) continue;
    const entries = await entriesOf(folder);
    if (folders.length > 0 && isMadeByTools(folders.at(-1) ?? "", entries)) continue;
    for (const { name, kind } of entries) {
      if (kind === "folder" && !skipped.has(name) && !without?.has(name)) {
        if (folders.length < depth) waiting.push([...folders, name]);
        else complete = false;
      }
      if (kind !== "file") continue;
      if (files.length === most) return { files, complete: false };
      const stats = await statsOf(folder.at(name));
      if (stats !== undefined) files.push({ path: [...folders, name].join("/"), ...stats });
    }
  }
  return { files, complete };
}

/** Paths of `after` that `before` lacks, or has with another size or time. */
export function changedFiles(before: Listing, after: Listing): string[] {
  const known = new Map(before.files.map((file) => [file.path, file]));
  return after.files
    .filter(({ path, size, modifiedAt }) => {
      const old = known.get(path);
      return old === undefined || old.size !== size || old.modifiedAt !== modifiedAt;
    })
    .map(({ path }) => path);
}

/**
 * Paths of `before` that `after` lacks; none if `after` was cut short, because they may only be
 * unlisted.
 */
export function removedFiles(before: Listing, after: Listing): string[] {
  if (!after.complete) return [];
  const there = new Set(after.files.map(({ path }) => path));
  return before.files.flatMap(({ path }) => (there.has(path) ? [] : [path]));
}

async function statsOf(path: string): Promise<Omit<ListedFile, "path"> | undefined> {
  try {
    const { size, mtimeMs, mode } = await lstat(path);
    return { size, modifiedAt: mtimeMs, executable: (mode & 0o100) !== 0 };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
