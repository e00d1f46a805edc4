import type { Workspace } from "../../core/workspace.ts";
import type { ChangesPatch } from "./checkpoints/changes-patch.ts";

export type { ChangesPatch };

/**
 * The difference between a workspace and its files' baseline, as unified diffs that `git apply`
 * accepts: one for each unpacked project that was changed, with paths from its folder, and one for
 * files that were sent outside any project (including the new files, when there is no project).
 * Binary files and those above 1 MB are left out, and so are projects whose folder is gone. Beyond
 * 20 MB in all a patch begins with the names of what is not in it. `only` restricts it to some
 * paths.
 */
export async function changesPatches(
  workspace: Workspace,
  only: (path: string) => boolean = () => true,
): Promise<ChangesPatch[]> {
  // Loaded at the end of a task, not with the agent whose definition names it.
  const patches = await import("./checkpoints/changes-patch.ts");
  return patches.changesPatches(workspace, only);
}
