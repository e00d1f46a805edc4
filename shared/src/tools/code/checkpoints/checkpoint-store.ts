import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { errnoOf } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { baselinesOf } from "../../../machine/workspace/baseline.ts";
import { keepOnly } from "../../../machine/workspace/kept-content.ts";
import { readJson, writeJson } from "../../../machine/workspace/own-files/json-file.ts";
import { type Checkpoint, checkpointSchema, differences } from "./checkpoint.ts";
import { scanWorkspace } from "./scan-workspace.ts";

const keptAtLeast = 100;
const keptAtMost = 120;
const checkpointName = /^(\d+)\.json$/;

/** The call that a checkpoint is taken for. */
export type Occasion = Pick<Checkpoint, "key" | "tool" | "about">;

/**
 * The states of workspaces before each call that changed something. Keep one for all tools of a
 * process.
 */
export interface CheckpointStore {
  /**
   * Saves the state before a call. A second attempt of the same call saves nothing; after a call
   * that changed nothing, its checkpoint is reused.
   */
  take(workspace: Workspace, occasion: Occasion): Promise<void>;
  /** Oldest first, one in memory at a time. */
  all(workspace: Workspace): AsyncGenerator<Checkpoint>;
  find(workspace: Workspace, id: number): Promise<Checkpoint | undefined>;
  /** The current state, in the form of a checkpoint. */
  now(workspace: Workspace): Promise<Checkpoint["files"]>;
}

/**
 * Checkpoints outlive the process: each is one file that is written completely or not at all, after
 * the content that it names.
 */
export function createCheckpointStore(): CheckpointStore {
  const inTurn = createKeyedQueue();
  return {
    take: (workspace, occasion) => inTurn(workspace.root, () => take(workspace, occasion)),
    all,
    find: read,
    now: (workspace) =>
      inTurn(workspace.root, async () => {
        const last = await latest(workspace);
        return [...(await scanWorkspace(workspace, last?.files ?? [])).files];
      }),
  };
}

async function take(workspace: Workspace, occasion: Occasion): Promise<void> {
  const ids = await idsIn(workspace);
  const last = await latest(workspace);
  if (last?.key === occasion.key) return;
  const { files, complete } = await scanWorkspace(workspace, last?.files ?? []);
  const unchanged = last !== undefined && differences(last.files, files).length === 0;
  const id = unchanged ? last.id : (last?.id ?? 0) + 1;
  const checkpoint = { ...occasion, id, at: Date.now(), files: [...files], complete } satisfies Checkpoint;
  await writeJson(fileOf(workspace, id), checkpoint);
  if (ids.length >= keptAtMost) await prune(workspace, ids.slice(0, -keptAtLeast));
}

async function latest(workspace: Workspace): Promise<Checkpoint | undefined> {
  const id = (await idsIn(workspace)).at(-1);
  return id === undefined ? undefined : await read(workspace, id);
}

async function* all(workspace: Workspace): AsyncGenerator<Checkpoint> {
  for (const id of await idsIn(workspace)) {
    const checkpoint = await read(workspace, id);
    if (checkpoint !== undefined) yield checkpoint;
  }
}

/**
 * Removes old checkpoints, what killed processes left of others, and content that no checkpoint
 * names any more.
 */
async function prune(workspace: Workspace, ids: readonly number[]): Promise<void> {
  const started = Date.now();
  for (const id of ids) await rm(fileOf(workspace, id), { force: true });
  for (const name of await readdir(folderOf(workspace)))
    if (!checkpointName.test(name)) await rm(join(folderOf(workspace), name), { force: true });
  const named = new Set<string>();
  const add = ({ files }: { readonly files: readonly { readonly sha256: string }[] }) => {
    for (const { sha256 } of files) named.add(sha256);
  };
  for await (const checkpoint of all(workspace)) add(checkpoint);
  for (const baseline of await baselinesOf(workspace)) add(baseline);
  await keepOnly(workspace, named, started);
}

async function idsIn(workspace: Workspace): Promise<number[]> {
  try {
    const names = await readdir(folderOf(workspace));
    return names.flatMap((name) => Number(checkpointName.exec(name)?.[1] ?? []) || []).sort((a, b) => a - b);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function read(workspace: Workspace, id: number): Promise<Checkpoint | undefined> {
  return readJson(fileOf(workspace, id), checkpointSchema);
}

function fileOf(workspace: Workspace, id: number): string {
  return join(folderOf(workspace), `${id}.json`);
}

function folderOf({ metaRoot }: Workspace): string {
  return join(metaRoot, "checkpoints");
}
