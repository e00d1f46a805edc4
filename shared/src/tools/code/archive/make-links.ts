import { lstat, rm, stat, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { AppError } from "../../../errors.ts";
import { confinedPath } from "../../../workspace/confined-path.ts";

/**
 * Makes an archive's symbolic links when everything else is there, so that nothing is written through one. Throws `rejected` for a link to outside.
 * Answers the links that lead nowhere or in circles, which are not made.
 */
export async function makeLinks(folder: string, links: ReadonlyMap<string, string>): Promise<string[]> {
  for (const [path, target] of links) {
    const escapes = isAbsolute(target) || /^\.\.(?:\/|$)/.test(normalize(join(dirname(path), target)));
    if (target === "" || target.includes("\0") || escapes) throw outside(path);
    if (await isThere(join(folder, path))) throw new AppError("rejected", `The name ${path} is in it twice.`);
    await symlink(target, join(folder, path));
  }
  const useless: string[] = [];
  for (const path of links.keys()) {
    if (await leadsSomewhere(join(folder, path))) {
      // By way of another link it may lead out although its own text does not.
      await confinedPath(folder, path).catch(() => Promise.reject(outside(path)));
    } else useless.push(path);
  }
  for (const path of useless) await rm(join(folder, path));
  return useless;
}

function outside(path: string): AppError {
  return new AppError("rejected", `The symbolic link ${path} in it leads outside.`);
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function leadsSomewhere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
