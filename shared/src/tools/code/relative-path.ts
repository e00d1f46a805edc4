import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { kindOf, placeOf } from "../../machine/workspace/workspace-file.ts";

/** A path of a model as commands in the workspace take it: relative, `.` for the root. Rejects what is outside or not there. */
export async function relativePath(workspace: Workspace, path: string): Promise<string> {
  const { relative } = await placeOf(workspace, path);
  const kind = await kindOf(workspace, path);
  if (kind === "missing") throw new AppError("not_found", `The path ${path} does not exist.`);
  return relative === "" ? "." : `./${relative}`;
}
