import type { Workspace } from "../../core/workspace.ts";
import { entriesOf, holdIfThere } from "../../machine/workspace/held-folder.ts";
import { placeOf } from "../../machine/workspace/workspace-file.ts";

const mostEntries = 500;

/** The names in a folder and in its folders, without hidden ones. `path` is as the model gave it, and so are the paths in the list. */
export async function viewFolder(workspace: Workspace, path: string): Promise<string> {
  const { folders, name } = await placeOf(workspace, path);
  const shown = path.replace(/(?<=.)\/+$/, "") || ".";
  const lines = await pathsIn(workspace.root, name === "" ? [] : [...folders, name], shown, 2);
  const cut = lines.length > mostEntries ? `(${lines.length - mostEntries} more are not shown)\n` : "";
  return (
    `Here's the files and directories up to 2 levels deep in ${shown}, excluding hidden items:\n` +
    `${[shown, ...lines.slice(0, mostEntries)].join("\n")}\n${cut}`
  );
}

async function pathsIn(root: string, folders: readonly string[], shown: string, levels: number): Promise<string[]> {
  await using folder = await holdIfThere(root, folders);
  if (folder === undefined) return [];
  const paths: string[] = [];
  for (const { name, kind } of await entriesOf(folder)) {
    if (name.startsWith(".")) continue;
    const path = `${shown}/${name.replaceAll(/\p{Cc}/gu, "?")}`;
    paths.push(path);
    if (kind === "folder" && levels > 1) paths.push(...(await pathsIn(root, [...folders, name], path, levels - 1)));
  }
  return paths;
}
