import { AppError } from "../../../core/errors.ts";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { keepContent } from "../../../machine/workspace/kept-content.ts";
import { type Listing, listFiles } from "../../../machine/workspace/list-files.ts";
import { isProtected } from "../../../machine/workspace/protected-names.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import type { CheckpointFile } from "./checkpoint.ts";

const maxFiles = 10_000;
const largest = 5 * 1024 ** 2;
const readTogether = 16;

/** Folders that can be regenerated, in addition to what is never listed. */
const derived: ReadonlySet<string> = new Set([
  ".gradle",
  ".mypy_cache",
  ".next",
  ".pytest_cache",
  ".ruff_cache",
  ".tox",
  "target",
  "venv",
]);

/**
 * The files of a workspace that are somebody's work. Left out: links, protected names, and folders
 * that can be regenerated.
 */
export async function listWork(workspace: Workspace): Promise<Listing> {
  const { files, complete } = await listFiles(workspace, { most: maxFiles, depth: 40, without: derived });
  return { files: files.filter(({ path }) => !isProtected(path)), complete };
}

/**
 * The current files of a workspace, with their content stored. Only files whose size or time
 * differs from `last` are read. Files above 5 MB are left out too; `complete` is false beyond
 * 10,000 files.
 */
export async function scanWorkspace(
  workspace: Workspace,
  last: readonly CheckpointFile[],
): Promise<{ readonly files: readonly CheckpointFile[]; readonly complete: boolean }> {
  const known = new Map(last.map((file) => [file.path, file]));
  const listing = await listWork(workspace);
  const fit = listing.files.filter(({ size }) => size <= largest);
  const files: CheckpointFile[] = [];
  for (let from = 0; from < fit.length; from += readTogether) {
    const some = fit.slice(from, from + readTogether).map(({ path, size, modifiedAt, executable }) => {
      const old = known.get(path);
      // Permissions change without the time of the content.
      return old?.size === size && old.modifiedAt === modifiedAt ? [{ ...old, executable }] : read(workspace, path);
    });
    files.push(...(await Promise.all(some)).flat());
  }
  return { files, complete: listing.complete };
}

/** The file, unless it no longer exists or may not be read. */
async function read(workspace: Workspace, path: string): Promise<CheckpointFile[]> {
  try {
    await using file = await openFile(workspace, path);
    const { size, mtimeMs, mode } = file.stats;
    const content = await file.read(largest);
    if (content === undefined) return [];
    const sha256 = sha256Of(content);
    await keepContent(workspace, sha256, content);
    return [{ path, sha256, size, modifiedAt: mtimeMs, executable: (mode & 0o100) !== 0 }];
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
