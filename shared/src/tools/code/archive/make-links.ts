import { lstat, rm, stat, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { confinedPath } from "../../../machine/workspace/confined-path.ts";

/** What happens to links whose own text leads outside. */
export type LinksOutside = "refuse" | "leave out";

/**
 * Makes an archive's symbolic links after everything else exists, so that nothing is written
 * through one. Throws `rejected` for a link to outside, unless it is to be left out. Returns the
 * links that were not made: those, and others that are dangling or circular.
 */
export async function makeLinks(
  folder: string,
  links: ReadonlyMap<string, string>,
  linksOutside: LinksOutside,
): Promise<string[]> {
  const useless: string[] = [];
  for (const [path, target] of links) {
    const escapes = isAbsolute(target) || /^\.\.(?:\/|$)/.test(normalize(join(dirname(path), target)));
    if (target === "" || target.includes("\0") || (escapes && linksOutside === "refuse")) throw outside(path);
    if (escapes) {
      useless.push(path);
      continue;
    }
    if (await isThere(join(folder, path))) throw new AppError("rejected", `It contains the name ${path} twice.`);
    await symlink(target, join(folder, path));
  }
  const left = new Set(useless);
  for (const path of links.keys()) {
    if (left.has(path)) continue;
    if (await leadsSomewhere(join(folder, path))) {
      // Through another link it may lead outside although its own text does not.
      await confinedPath(folder, path).catch(() => Promise.reject(outside(path)));
    } else useless.push(path);
  }
  for (const path of useless) await rm(join(folder, path), { force: true });
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
