import { join } from "node:path";
import * as z from "zod";
import type { Workspace } from "../../../core/workspace.ts";
import { readJson, writeJson } from "../../../machine/workspace/own-files/json-file.ts";

const oid = z.string().regex(/^[0-9a-f]{40}$/);

const recordSchema = z.strictObject({
  folders: z.record(
    z.string(),
    z.strictObject({
      url: z.string(),
      /** The commit that was cloned. */
      commit: oid,
      /** The branch that was cloned, and the default branch, where there are such. */
      branch: z.string().optional(),
      defaultBranch: z.string().optional(),
      /** What was pushed from here, oldest first: the commit that went on top of `base`. */
      pushed: z.array(z.strictObject({ branch: z.string(), base: oid, commit: oid })),
    }),
  ),
});

/** Where a folder was cloned from, and what of it the server has. */
export type CloneRecord = z.output<typeof recordSchema>["folders"][string];

/**
 * What was cloned into this folder of the workspace. Kept where no tool can write: what a
 * repository says about its own origin is the repository's word.
 */
export async function cloneRecordOf(workspace: Workspace, folder: string): Promise<CloneRecord | undefined> {
  const { folders } = await recordsOf(workspace);
  return Object.hasOwn(folders, folder) ? folders[folder] : undefined;
}

/** The folders that were cloned. */
export async function clonedFolders(workspace: Workspace): Promise<readonly string[]> {
  return Object.keys((await recordsOf(workspace)).folders);
}

/** Records a clone, in place of an earlier one in the same folder. */
export async function recordClone(
  workspace: Workspace,
  folder: string,
  clone: Omit<CloneRecord, "pushed">,
): Promise<void> {
  await change(workspace, folder, () => ({ ...clone, pushed: [] }));
}

/** Records that the server has this commit now. */
export async function recordPush(
  workspace: Workspace,
  folder: string,
  push: CloneRecord["pushed"][number],
): Promise<void> {
  await change(workspace, folder, (record) =>
    record === undefined ? undefined : { ...record, pushed: [...withoutPush(record, push), push] },
  );
}

/** What was pushed, without this push. */
export function withoutPush(
  { pushed }: CloneRecord,
  { branch, commit }: { readonly branch: string; readonly commit: string },
): CloneRecord["pushed"] {
  return pushed.filter((one) => one.branch !== branch || one.commit !== commit);
}

async function change(
  workspace: Workspace,
  folder: string,
  next: (record: CloneRecord | undefined) => CloneRecord | undefined,
): Promise<void> {
  const { folders } = await recordsOf(workspace);
  const record = next(Object.hasOwn(folders, folder) ? folders[folder] : undefined);
  if (record !== undefined) await writeJson(fileOf(workspace), { folders: { ...folders, [folder]: record } });
}

async function recordsOf(workspace: Workspace): Promise<z.output<typeof recordSchema>> {
  return (await readJson(fileOf(workspace), recordSchema)) ?? { folders: {} };
}

function fileOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "clones.json");
}
