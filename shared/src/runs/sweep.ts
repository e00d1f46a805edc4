import { AppError } from "../core/errors.ts";
import { type Engine, runStatuses, terminalStatuses } from "../core/runs/engine.ts";
import type { HomeFiles } from "../core/runs/housekeeping.ts";

/** How long what has ended is kept, in milliseconds; undefined: for ever. */
export type Retention = {
  /** The journals of ended runs, of which only what models were asked is shown. */
  readonly journalsMs: number | undefined;
  /** Ended runs, with their events. */
  readonly runsMs: number | undefined;
  /** Workspaces that no task has opened, with all that tools remember of the conversation. */
  readonly workspacesMs: number | undefined;
  /** Files that no run refers to. */
  readonly artifactsMs: number | undefined;
  /** The time between two sweeps. */
  readonly everyMs: number;
};

/** What a sweep needs. `dedupeMs` is how long a message sent again must be recognized. */
export type SweepDeps = {
  readonly engine: Engine;
  readonly files: HomeFiles;
  readonly retention: Retention;
  readonly dedupeMs: number;
  readonly now?: () => number;
  /** At most so many of each kind in one sweep. Default 500. */
  readonly limit?: number;
};

/** What a sweep deleted. */
export type Swept = {
  readonly runs: readonly string[];
  /** How many runs lost their journals. */
  readonly journals: number;
  /** The names of workspaces' folders. */
  readonly workspaces: readonly string[];
  /** The hashes of files. */
  readonly artifacts: readonly string[];
  /** Whether there is more to delete. */
  readonly more: boolean;
};

/** Content is stored before the event that refers to it, by a step that may take its time. */
const shortestArtifactMs = 60 * 60 * 1000;
const usual = 500;

/**
 * Deletes what the retention lets go: never an unfinished run, nor what it may need. It may be
 * killed at any point, and several may run at once; the next one finishes what is half done. With
 * `dryRun`, it only says what it would delete now.
 */
export async function sweep(deps: SweepDeps, { dryRun = false } = {}): Promise<Swept> {
  const { engine, files, limit = usual } = deps;
  const now = (deps.now ?? Date.now)();
  const { artifactsMs } = deps.retention;
  const sinceOf = (ms: number | undefined) => (ms === undefined ? undefined : now - ms);
  const before = {
    journals: sinceOf(deps.retention.journalsMs),
    runs: sinceOf(deps.retention.runsMs),
    workspaces: sinceOf(deps.retention.workspacesMs),
    artifacts: sinceOf(artifactsMs === undefined ? undefined : Math.max(artifactsMs, shortestArtifactMs)),
  };
  const pass = { ...deps, limit, dryRun };
  const journals = before.journals === undefined ? 0 : await sweepJournals(pass, before.journals);
  const runs = before.runs === undefined ? none : await sweepRuns(pass, before.runs, now - deps.dedupeMs);
  const workspaces = before.workspaces === undefined ? [] : await sweepWorkspaces(pass, before.workspaces);
  const artifacts = before.artifacts === undefined ? [] : await sweepArtifacts(pass, before.artifacts);
  if (!dryRun) {
    await engine.scrub();
    // What cannot be removed from the disk keeps nothing else from being removed.
    await files.dropCopies((hashes) => engine.filesInUse(hashes));
    await files.clear();
  }
  const isFull = [journals, workspaces.length, artifacts.length].some((count) => count >= limit);
  return { runs: runs.ids, journals, workspaces, artifacts, more: runs.more || isFull };
}

type Pass = Pick<SweepDeps, "engine" | "files"> & { readonly limit: number; readonly dryRun: boolean };

const none = { ids: [] as string[], more: false };
/** Runs in one transaction. */
const atOnce = 20;

async function sweepJournals({ engine, limit, dryRun }: Pass, endedBy: number): Promise<number> {
  let runs = 0;
  let after: string | undefined;
  do {
    const page = await engine.deleteJournals({ endedBy, limit: atOnce, dryRun, ...(after !== undefined && { after }) });
    runs += page.runs;
    after = page.next;
    await Bun.sleep(0);
  } while (after !== undefined && runs < limit);
  return runs;
}

async function sweepRuns({ engine, limit, dryRun }: Pass, endedBy: number, acceptedBy: number) {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await engine.expired({ endedBy, acceptedBy, limit: atOnce, ...(after !== undefined && { after }) });
    for (const id of page.runIds) {
      if (dryRun) ids.push(id);
      else ids.push(...(await deleteExpired(engine, id, endedBy)));
      await Bun.sleep(0);
    }
    after = page.next;
  } while (after !== undefined && ids.length < limit);
  return { ids, more: after !== undefined };
}

/** The run and all it asked for, or nothing if that has not ended or another process was faster. */
async function deleteExpired(engine: Engine, id: string, endedBy: number): Promise<readonly string[]> {
  try {
    return (await engine.delete({ runIds: [id], endedBy })).runs;
  } catch (error) {
    if (error instanceof AppError && (error.code === "conflict" || error.code === "not_found")) return [];
    throw error;
  }
}

async function sweepWorkspaces({ engine, files, limit, dryRun }: Pass, before: number): Promise<readonly string[]> {
  const old = await files.oldWorkspaces(before, limit, await openWorkspaces(engine, files));
  if (dryRun) return old;
  const gone: string[] = [];
  for (const name of old) if (await files.detachOld(name, before)) gone.push(name);
  return gone;
}

/** The names of the workspaces of conversations with a run that has not ended. */
async function openWorkspaces(engine: Engine, files: HomeFiles): Promise<ReadonlySet<string>> {
  const statuses = runStatuses.filter((status) => !terminalStatuses.includes(status));
  const names = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await engine.list({ statuses, limit: 200, ...(cursor !== undefined && { cursor }) });
    for (const run of page.runs) names.add(files.nameOf(run));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

async function sweepArtifacts({ engine, files, limit, dryRun }: Pass, before: number): Promise<readonly string[]> {
  const gone: string[] = [];
  for await (const hashes of files.oldArtifacts(before)) {
    const used = await engine.filesInUse(hashes);
    for (const sha256 of hashes)
      if (!used.has(sha256) && (dryRun || (await files.removeArtifact(sha256, before)))) gone.push(sha256);
    if (gone.length >= limit) break;
  }
  return gone;
}
