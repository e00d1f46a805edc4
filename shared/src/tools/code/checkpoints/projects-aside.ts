import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { type Baseline, baselinesOf } from "../../../machine/workspace/baseline.ts";
import { holdFolder } from "../../../machine/workspace/held-folder.ts";
import { kindOf, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import type { Checkpoint } from "./checkpoint.ts";

type State = Pick<Checkpoint, "at" | "files">;

/**
 * Puts back the projects of a state that were set aside, including what no checkpoint holds:
 * `.git`, links, large files. Must be called before the state's files are restored.
 */
export async function putBackProjects(workspace: Workspace, { files }: State): Promise<void> {
  for (const { root } of await projectsOf(workspace)) {
    if (
      !holds(files, root) ||
      !(await isThere(asideOf(workspace, root))) ||
      (await kindOf(workspace, root)) !== "missing"
    )
      continue;
    const { folders, name } = await workspacePathOf(workspace, root);
    await using parent = await holdFolder(workspace.root, folders);
    await rename(asideOf(workspace, root), parent.at(name));
  }
}

/**
 * Sets aside the projects, as a whole, that were added after a state was saved. Must be called when
 * the state's files are restored.
 */
export async function setAsideProjects(workspace: Workspace, { at, files }: State): Promise<void> {
  for (const { root, arrivedAt } of await projectsOf(workspace)) {
    if (arrivedAt < at || holds(files, root) || (await kindOf(workspace, root)) !== "folder") continue;
    const { folders, name } = await workspacePathOf(workspace, root);
    await forgetAside(workspace, root);
    await mkdir(join(workspace.metaRoot, "aside"), { recursive: true, mode: 0o700 });
    await using parent = await holdFolder(workspace.root, folders);
    await rename(parent.at(name), asideOf(workspace, root));
  }
}

/** Deletes what was set aside of a project, because another one takes its place. */
export async function forgetAside(workspace: Workspace, root: string): Promise<void> {
  await rm(asideOf(workspace, root), { recursive: true, force: true });
}

function holds(files: State["files"], root: string): boolean {
  return files.some(({ path }) => path.startsWith(`${root}/`));
}

async function projectsOf(workspace: Workspace): Promise<Baseline[]> {
  return (await baselinesOf(workspace)).filter(({ root, files }) => files.length !== 1 || files[0]?.path !== root);
}

function asideOf({ metaRoot }: Workspace, root: string): string {
  return join(metaRoot, "aside", sha256Of(root));
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
