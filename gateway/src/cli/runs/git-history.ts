import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What is longer is left out: a task's files have 7 MB together. */
const maxBytes = 3_000_000;

/**
 * The commits, the branches and what is staged; not the settings, which may hold a token, or hooks.
 */
const kept = /^(?:HEAD|packed-refs|shallow|index|refs\/.+|objects\/.+)$/;

/** Settings without which git misreads the rest. */
const special = /^[^\S\n]*\[extensions/im;

/**
 * The paths in a checkout that hold its history. None where the folder is not the top of a checkout
 * with a repository of its own, has no commits, or has a history that is too long.
 */
export async function historyPaths(root: string): Promise<string[]> {
  const folder = join(root, ".git");
  if ((await lstat(folder).catch(() => undefined))?.isDirectory() !== true) return [];
  const config = await readFile(join(folder, "config"), "utf8").catch(() => "");
  const all = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: folder, dot: true }));
  if (special.test(config) || all.includes("objects/info/alternates")) return [];
  const paths = all.filter((path) => kept.test(path));
  if (!paths.some((path) => path.startsWith("objects/"))) return [];
  let bytes = 0;
  for (const path of paths) {
    bytes += (await lstat(join(folder, path)).catch(() => undefined))?.size ?? 0;
    if (bytes > maxBytes) return [];
  }
  return paths.map((path) => `.git/${path}`);
}
