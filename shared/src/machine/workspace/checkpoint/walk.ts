import { lstat, readdir, readlink } from "node:fs/promises";
import { errnoOf } from "../../../core/errors.ts";
import { type HeldFolder, holdIfThere } from "../held-folder.ts";
import type { Manifest } from "./manifest.ts";

/** A file as it is found. */
export type FoundFile = {
  readonly path: string;
  readonly mode: number;
  readonly modifiedAt: number;
  readonly size: number;
  /** Changes whenever the file does. */
  readonly stamp: string;
};

/** Receives what there is, folder by folder. */
export type Visitor = {
  readonly folders: Manifest["folders"];
  readonly links: Manifest["links"];
  /** `at` is where to open it: valid meanwhile, whatever happens to the folders above. */
  file(found: FoundFile, at: string): Promise<void>;
};

/** What is of no use elsewhere: what was half written when a process was killed. */
const transient = new Set(["meta/staging"]);

/**
 * Walks through what is to be stored of a workspace's folder, following no symlink: processes of
 * tools may still be at work in it. Leaves out sockets and devices, and, as root, files of others
 * that have several names.
 */
export async function walk(folder: string, visitor: Visitor, user: number | undefined): Promise<void> {
  const waiting: string[][] = [["files"], ["meta"]];
  for (let names = waiting.shift(); names !== undefined; names = waiting.shift()) {
    await using held = await holdIfThere(folder, names);
    if (held === undefined) continue;
    const { mode } = await lstat(held.at(""));
    visitor.folders.push({ path: names.join("/"), mode: mode & 0o777 });
    for (const entry of await readdir(held.at(""), { withFileTypes: true })) {
      const path = [...names, entry.name].join("/");
      if (transient.has(path)) continue;
      if (entry.isDirectory()) waiting.push([...names, entry.name]);
      else await visitEntry(path, held, entry.name, visitor, user);
    }
  }
}

async function visitEntry(
  path: string,
  held: HeldFolder,
  name: string,
  visitor: Visitor,
  user: number | undefined,
): Promise<void> {
  try {
    const stats = await lstat(held.at(name));
    if (stats.isSymbolicLink()) visitor.links.push({ path, target: await readlink(held.at(name)) });
    const isForeign = stats.nlink > 1 && user !== undefined && stats.uid !== user;
    if (!stats.isFile() || isForeign) return;
    const { size, mtimeMs: modifiedAt } = stats;
    const stamp = `${stats.ino} ${size} ${modifiedAt} ${stats.ctimeMs}`;
    await visitor.file({ path, mode: stats.mode & 0o777, modifiedAt, size, stamp }, held.at(name));
  } catch (error) {
    // It may go while it is looked at, or be one of those that only its owner reads.
    if (!["ENOENT", "EACCES", "ELOOP", "EINVAL"].includes(errnoOf(error) ?? "")) throw error;
  }
}
