import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { AppError, errnoOf } from "../../core/errors.ts";

const longestPath = 4096;
const longestName = 255;

/**
 * The absolute path, free of symlinks, that `path` (absolute or relative to `root`) names. `root`
 * itself must be absolute and free of symlinks. Rejects with `forbidden` when the path is outside,
 * leads through a dangling symlink or cannot be reached, and with `invalid_input` when it is not a
 * valid name. The file need not exist.
 */
export async function confinedPath(root: string, path: string): Promise<string> {
  refuseImpossible(path);
  const real = await realPathOf(resolve(root, path));
  if (real === undefined || (real !== root && !real.startsWith(root + sep)))
    throw new AppError("forbidden", `The path ${path} is outside the workspace.`);
  return real;
}

function refuseImpossible(path: string): void {
  if (/\p{Cc}/u.test(path))
    throw new AppError("invalid_input", `The path ${JSON.stringify(path.slice(0, 200))} has control characters in it.`);
  const tooLong =
    Buffer.byteLength(path) > longestPath || path.split(sep).some((n) => Buffer.byteLength(n) > longestName);
  if (tooLong) throw new AppError("invalid_input", `The path ${path.slice(0, 80)}… is too long.`);
}

/**
 * The real path of the deepest existing part, with the rest appended; undefined when a symlink on
 * the way leads nowhere.
 */
async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return undefined;
    if (await isSymlink(path)) return undefined;
    const parent = await realPathOf(dirname(path));
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}

async function isSymlink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
