import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { baselinesOf } from "./baseline.ts";
import type { Listing } from "./list-files.ts";
import { openFile } from "./workspace-file.ts";

const fileName = ".gitignore";
const largest = 256 * 1024;
/** Of all files together: each is tried for each path, by whoever wrote the project. */
const mostRules = 2_000;

/** A line of a `.gitignore`; `folder` is where the file is, empty for the workspace. */
type Rule = {
  readonly folder: string;
  readonly glob: Bun.Glob;
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
};

/**
 * Returns a function that says whether git would ignore a file of an unpacked or cloned project: it
 * did not arrive with it, and a `.gitignore` of the project names it or a folder it is in.
 */
export async function ignoredInProjects(workspace: Workspace, { files }: Listing): Promise<(path: string) => boolean> {
  const projects = (await baselinesOf(workspace)).filter((one) => one.files.some(({ path }) => path !== one.root));
  const arrived = new Set(projects.flatMap((one) => one.files.map(({ path }) => path)));
  const roots = projects.map(({ root }) => root);
  const rules: Rule[] = [];
  // The outer ones first: of several that match, the last decides.
  const sources = files.map(({ path }) => path).filter((path) => `/${path}`.endsWith(`/${fileName}`));
  for (const path of sources.toSorted((one, other) => one.length - other.length))
    if (rules.length < mostRules && roots.some((root) => path.startsWith(`${root}/`)))
      rules.push(...(await rulesOf(workspace, path)).slice(0, mostRules - rules.length));
  const known = new Map<string, boolean>();
  const isIgnored = (path: string, isFolder: boolean): boolean => {
    const answer =
      known.get(path) ??
      ((path.includes("/") && isIgnored(path.slice(0, path.lastIndexOf("/")), true)) ||
        rules.findLast((rule) => matches(rule, path, isFolder))?.isNegated === false);
    known.set(path, answer);
    return answer;
  };
  return (path) => rules.length > 0 && !arrived.has(path) && isIgnored(path, false);
}

async function rulesOf(workspace: Workspace, path: string): Promise<Rule[]> {
  try {
    await using file = await openFile(workspace, path);
    const text = (await file.read(largest))?.toString("utf8") ?? "";
    const folder = path.slice(0, -fileName.length);
    return text.split(/\r?\n/, mostRules).flatMap((line) => ruleOf(line, folder) ?? []);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function ruleOf(line: string, folder: string): Rule | undefined {
  const text = line.replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return undefined;
  const isNegated = text.startsWith("!");
  const pattern = (isNegated ? text.slice(1) : text).replace(/^\\(?=[#!])/, "");
  const foldersOnly = pattern.endsWith("/");
  const named = pattern.replace(/\/$/, "").replaceAll(/[{}]/g, "\\$&");
  if (named === "") return undefined;
  // A slash that is not the last ties the pattern to its folder.
  const glob = new Bun.Glob(named.includes("/") ? named.replace(/^\//, "") : `**/${named}`);
  return { folder, glob, isNegated, foldersOnly };
}

function matches({ folder, glob, foldersOnly }: Rule, path: string, isFolder: boolean): boolean {
  return (!foldersOnly || isFolder) && path.startsWith(folder) && glob.match(path.slice(folder.length));
}
