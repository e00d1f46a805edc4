import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { placeholdersAmong } from "../../../machine/sandbox/guarded-names.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { kindOf, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";

/** `complete` is false when a limit cut the list short. Paths are relative to the workspace. */
export type CodeFiles = { readonly paths: readonly string[]; readonly complete: boolean };

const maxBytes = 4 * 1024 ** 2;
const listingMs = 20_000;

/** What every search leaves out, in addition to what ignore files name. */
export const unsearched = ["--hidden", "--no-require-git", "--no-config", "--glob=!.git", "--glob=!.manyhands/"];

/**
 * The files below a folder of the workspace (or the one file), as ripgrep sees them inside the
 * sandbox: without those that `.gitignore` names and those whose names no tool accepts (line breaks
 * and similar). `newest` puts the last changed first. Throws with ripgrep's own message when the
 * folder cannot be read.
 */
export async function listCodeFiles(
  sandbox: Sandbox,
  { workspace, signal }: Pick<ToolContext, "workspace" | "signal">,
  { path, newest = false }: { readonly path: string; readonly newest?: boolean },
): Promise<CodeFiles> {
  const chunks: Uint8Array[] = [];
  const order = newest ? "--sortr=modified" : "--sort=path";
  const argv = ["rg", "--files", "--null", order, ...unsearched, "--", path];
  const limits = { wallMs: listingMs, outputBytes: maxBytes };
  const { exitCode, stderr, limit } = await runCommand(
    sandbox,
    { argv, workspace: workspace.root, limits },
    {
      signal,
      onOutput: (stream, bytes) => {
        if (stream === "stdout") chunks.push(Uint8Array.from(bytes));
      },
    },
  );
  if (exitCode > 1 && limit === undefined && chunks.length === 0) throw new Error(stderr.trim() || "ripgrep failed.");
  const names = Buffer.concat(chunks).toString("utf8").split("\0");
  // The part after the last NUL is empty, or an incomplete name.
  const paths = names.slice(0, -1).map((name) => name.replace(/^\.\//, ""));
  const placeholders = await placeholdersAmong(workspace.root, paths);
  const fit = paths.filter((each) => !placeholders.has(each) && !/\p{Cc}/u.test(each));
  return { paths: fit, complete: limit === undefined };
}

/**
 * Whether a path matches a pattern; a pattern without a slash matches the file's name, in any
 * folder.
 */
export function fitsGlob(pattern: string): (path: string) => boolean {
  const glob = new Bun.Glob(pattern.includes("/") ? pattern.replace(/^\.?\//, "") : `**/${pattern}`);
  return (path) => glob.match(path);
}

/**
 * A model's path in the form that commands in the workspace accept: relative, `.` for the root.
 * Rejects paths that are outside or do not exist.
 */
export async function relativePath(workspace: Workspace, path: string): Promise<string> {
  const { relative } = await workspacePathOf(workspace, path);
  const kind = await kindOf(workspace, path);
  if (kind === "missing") throw new AppError("not_found", `The path ${path} does not exist.`);
  return relative === "" ? "." : `./${relative}`;
}
