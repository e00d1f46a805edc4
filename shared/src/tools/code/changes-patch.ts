import { AppError } from "../../errors.ts";
import { type Arrival, arrivalsOf, pristineContent } from "../../workspace/pristine.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { kindOf, openFile } from "../../workspace/workspace-file.ts";
import { hashOf } from "../files/apply-staged.ts";
import { isBinary } from "../files/text-content.ts";

/** A patch, and the folder its paths start from, relative to the workspace; empty for the workspace itself. */
export type ChangesPatch = { readonly folder: string; readonly patch: string };

const largest = 1024 ** 2;
const diffMs = 5000;

/**
 * The difference between a workspace and how its files arrived, as unified diffs that `git apply` takes: one for each unpacked project that
 * was changed, with paths from its folder, and one for what was sent beside it (with the new files, where there is no project). `made` are the files that are there now and are new or changed. Binary
 * files and those above 1 MB are left out, and so are projects whose folder is gone.
 */
export async function changesPatches(workspace: Workspace, made: readonly string[]): Promise<ChangesPatch[]> {
  const arrivals = await arrivalsOf(workspace);
  const projects = arrivals.filter((each) => !isLoose(each));
  const patches: ChangesPatch[] = [];
  for (const project of projects) {
    if ((await kindOf(workspace, project.root)) !== "folder") continue;
    const inside = made.filter((path) => path.startsWith(`${project.root}/`));
    patches.push(await patchOf(workspace, project.root, project.files, inside));
  }
  const loose = arrivals.filter(isLoose).flatMap(({ files }) => files);
  patches.push(await patchOf(workspace, "", loose, projects.length === 0 ? made : []));
  return patches.filter(({ patch }) => patch !== "");
}

/** A file that came alone is its own root. */
function isLoose({ root, files }: Arrival): boolean {
  return files.length === 1 && files[0]?.path === root;
}

async function patchOf(
  workspace: Workspace,
  folder: string,
  files: Arrival["files"],
  made: readonly string[],
): Promise<ChangesPatch> {
  const arrived = new Set(files.map(({ path }) => path));
  const patches: string[] = [];
  const shown = (path: string) => (folder === "" ? path : path.slice(folder.length + 1));
  for (const { path, sha256 } of files) {
    const now = await contentOf(workspace, path);
    if (now !== undefined && hashOf(now) === sha256) continue;
    const before = await pristineContent(workspace, sha256);
    if (before !== undefined) patches.push(await diffOf(shown(path), before, now));
  }
  for (const path of made)
    if (!arrived.has(path)) patches.push(await diffOf(shown(path), undefined, await contentOf(workspace, path)));
  return { folder, patch: patches.join("") };
}

async function diffOf(path: string, before: Uint8Array | undefined, after: Uint8Array | undefined): Promise<string> {
  if ([before, after].some((bytes) => bytes && (bytes.length > largest || isBinary(bytes)))) return "";
  const texts = [before, after].map((bytes) => new TextDecoder().decode(bytes));
  if (texts[0] === texts[1]) return "";
  const { createTwoFilesPatch } = await import("diff");
  const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"] as const;
  const options = { context: 3, timeout: diffMs };
  const patch = createTwoFilesPatch(...names, texts[0] ?? "", texts[1] ?? "", undefined, undefined, options);
  if (patch === undefined) return "";
  return `diff --git a/${path} b/${path}\n${mode(before, after)}${patch.slice(patch.indexOf("--- "))}`;
}

/** What git wants to read for a file that is made or removed. */
function mode(before: Uint8Array | undefined, after: Uint8Array | undefined): string {
  if (before === undefined) return "new file mode 100644\n";
  return after === undefined ? "deleted file mode 100644\n" : "";
}

async function contentOf(workspace: Workspace, path: string): Promise<Uint8Array | undefined> {
  try {
    await using file = await openFile(workspace, path);
    return file.stats.size > largest ? new Uint8Array(largest + 1) : await file.handle.readFile();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
