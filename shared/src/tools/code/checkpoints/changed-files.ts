import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { baselinesOf } from "../../../machine/workspace/baseline.ts";
import { contentOf } from "./changes-patch.ts";
import { listWork } from "./scan-workspace.ts";

/**
 * The files below a folder (`.` for all) that differ from what arrived, are new or are gone;
 * undefined if nothing arrived there, so that nothing can be compared.
 */
export async function changedFiles(workspace: Workspace, folder: string): Promise<readonly string[] | undefined> {
  const isBelow = (path: string) => folder === "." || path.startsWith(`${folder}/`);
  const arrived = (await baselinesOf(workspace)).flatMap(({ files }) => files).filter(({ path }) => isBelow(path));
  if (arrived.length === 0) return undefined;
  const known = new Set(arrived.map(({ path }) => path));
  const changed = (await listWork(workspace)).files
    .map(({ path }) => path)
    .filter((path) => isBelow(path) && !known.has(path));
  for (const { path, sha256 } of arrived) {
    const now = await contentOf(workspace, path);
    if (now === undefined || sha256Of(now.bytes) !== sha256) changed.push(path);
  }
  return changed.toSorted();
}
