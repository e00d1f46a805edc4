import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { placeholdersAmong } from "../../../machine/sandbox/guarded-names.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { kindOf, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";

/** `complete` is false when a bound cut the list short. Paths are relative to the workspace. */
export type CodeFiles = { readonly paths: readonly string[]; readonly complete: boolean };

const mostBytes = 4 * 1024 ** 2;
const listingMs = 20_000;

/** What every search leaves out, beside what ignore files name. */
export const unsearched = ["--hidden", "--no-require-git", "--no-config", "--glob=!.git", "--glob=!.manyhands/"];

/**
 * The files below a folder of the workspace (or the one file), without those that `.gitignore`
 * names and those whose names no tool takes (line breaks and the like), as ripgrep sees them inside
 * the sandbox. `newest` puts the last changed first. Throws with ripgrep's own words when the
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
  const limits = { wallMs: listingMs, outputBytes: mostBytes };
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
  // What follows the last NUL is empty, or a name cut in the middle.
  const paths = names.slice(0, -1).map((name) => name.replace(/^\.\//, ""));
  const placeholders = await placeholdersAmong(workspace.root, paths);
  const fit = paths.filter((each) => !placeholders.has(each) && !/\p{Cc}/u.test(each));
  return { paths: fit, complete: limit === undefined };
}

/**
 * Whether a path fits a pattern; one without a slash is about the file's name, in whatever folder.
 */
export function fitsGlob(pattern: string): (path: string) => boolean {
  const glob = new Bun.Glob(pattern.includes("/") ? pattern.replace(/^\.?\//, "") : `**/${pattern}`);
  return (path) => glob.match(path);
}

/**
 * A path of a model as commands in the workspace take it: relative, `.` for the root. Rejects what
 * is outside or not there.
 */
export async function relativePath(workspace: Workspace, path: string): Promise<string> {
  const { relative } = await workspacePathOf(workspace, path);
  const kind = await kindOf(workspace, path);
  if (kind === "missing") throw new AppError("not_found", `The path ${path} does not exist.`);
  return relative === "" ? "." : `./${relative}`;
}
