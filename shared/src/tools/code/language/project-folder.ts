import type { Workspace } from "../../../core/workspace.ts";
import { kindOf } from "../../../machine/workspace/workspace-file.ts";

const manifests = ["tsconfig.json", "package.json", "pyproject.toml", "setup.py", "go.mod", "Cargo.toml", ".git"];

/**
 * The project that a file of the workspace belongs to: the nearest folder above it with a manifest,
 * or else the first on the way to it; relative to the workspace, `.` for all of it.
 */
export async function projectFolder(workspace: Workspace, path: string): Promise<string> {
  const names = path.split("/").slice(0, -1);
  for (let depth = names.length; depth >= 0; depth--) {
    const folder = names.slice(0, depth);
    for (const manifest of manifests)
      if ((await kindOf(workspace, [...folder, manifest].join("/"))) !== "missing") return folder.join("/") || ".";
  }
  return names[0] ?? ".";
}
