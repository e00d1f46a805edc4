import { AppError } from "../../../core/errors.ts";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { type Baseline, baselinesOf } from "../../../machine/workspace/baseline.ts";
import { ignoredInProjects } from "../../../machine/workspace/ignored-files.ts";
import { keptContent } from "../../../machine/workspace/kept-content.ts";
import { kindOf, openFile } from "../../../machine/workspace/workspace-file.ts";
import { type DiffRoom, fileDiff, leftOutText, newDiffRoom } from "./file-diff.ts";
import { listWork } from "./scan-workspace.ts";

/**
 * A patch, and the folder its paths start from, relative to the workspace; empty for the workspace
 * itself. `changes` says whether it changes anything in the baseline: a patch of new files alone
 * only repeats them.
 */
export type ChangesPatch = { readonly folder: string; readonly patch: string; readonly changes: boolean };

const largest = 1024 ** 2;

/**
 * The difference between a workspace and its files' baseline, as unified diffs that `git apply`
 * accepts: one for each unpacked project that was changed, with paths from its folder, and one for
 * files that were sent outside any project (including the new files, when there is no project).
 * Binary files, those above 1 MB and what git ignores are left out, and so are projects whose
 * folder is gone. Beyond 20 MB in all a patch begins with the names of what is not in it. `only`
 * restricts it to some paths.
 */
export async function changesPatches(
  workspace: Workspace,
  only: (path: string) => boolean = () => true,
): Promise<ChangesPatch[]> {
  const work = await listWork(workspace);
  const isIgnored = await ignoredInProjects(workspace, work);
  const there = work.files.map(({ path }) => path).filter((path) => only(path) && !isIgnored(path));
  const baselines = (await baselinesOf(workspace)).map(({ root, files }) => ({
    root,
    loose: files.length === 1 && files[0]?.path === root,
    files: files.filter(({ path }) => only(path)),
  }));
  const projects = baselines.filter(({ loose }) => !loose);
  const patches: ChangesPatch[] = [];
  const room = newDiffRoom();
  for (const project of projects) {
    if ((await kindOf(workspace, project.root)) !== "folder") continue;
    const inside = there.filter((path) => path.startsWith(`${project.root}/`));
    patches.push(await patchOf(workspace, project.root, { files: project.files, there: inside }, room));
  }
  const loose = baselines.filter(({ loose }) => loose).flatMap(({ files }) => files);
  patches.push(await patchOf(workspace, "", { files: loose, there: projects.length === 0 ? there : [] }, room));
  return patches.filter(({ patch }) => patch !== "");
}

async function patchOf(
  workspace: Workspace,
  folder: string,
  { files, there }: { readonly files: Baseline["files"]; readonly there: readonly string[] },
  all: DiffRoom,
): Promise<ChangesPatch> {
  const arrived = new Set(files.map(({ path }) => path));
  const patches: string[] = [];
  const room: DiffRoom = { ...all, leftOut: [] };
  const shown = (path: string) => (folder === "" ? path : path.slice(folder.length + 1));
  for (const { path, sha256 } of files) {
    const now = await contentOf(workspace, path);
    if (now !== undefined && sha256Of(now.bytes) === sha256) continue;
    const before = await keptContent(workspace, sha256);
    if (before !== undefined) patches.push(await fileDiff(shown(path), { before, after: now?.bytes }, room));
  }
  const changes = room.leftOut.length > 0 || patches.some((patch) => patch !== "");
  for (const path of there)
    if (!arrived.has(path)) {
      const now = await contentOf(workspace, path);
      const change = { before: undefined, after: now?.bytes, executable: now?.executable };
      patches.push(await fileDiff(shown(path), change, room));
    }
  all.searchMs = room.searchMs;
  all.characters = room.characters;
  return { folder, patch: leftOutText(room) + patches.join(""), changes };
}

/** A file now; undefined if there is none. */
export async function contentOf(
  workspace: Workspace,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly executable: boolean } | undefined> {
  try {
    await using file = await openFile(workspace, path);
    const { mode } = file.stats;
    const bytes = (await file.read(largest)) ?? new Uint8Array(largest + 1);
    return { bytes, executable: (mode & 0o100) !== 0 };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
