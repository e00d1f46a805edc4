import { createKeyedQueue } from "../core/async/keyed-queue.ts";
import { AppError } from "../core/errors.ts";
import { readEvent } from "../core/events/read-event.ts";
import { type Engine, type RunRecord, terminalStatuses } from "../core/runs/engine.ts";
import { type ForgetInput, forgetKind, type RemoteOutcome, type RemoteTaskName } from "../core/runs/forgetting.ts";
import type { Conversation, Deletion, HomeFiles } from "../core/runs/housekeeping.ts";

/** What was deleted: the runs here, and the tasks elsewhere. */
export type Deleted = { readonly deleted: readonly string[]; readonly elsewhere: readonly RemoteOutcome[] };

/** Deletes runs for good, with all that belongs to them. */
export interface Deletions {
  /**
   * Deletes a run with everything it asked for, its files unless other runs refer to them, and the
   * workspace of its conversation if no run of it is left. Rejects with `conflict` if anything of
   * it has not ended.
   */
  run(run: RunRecord): Promise<Deleted>;
  /**
   * Deletes all runs of a principal's conversation, and its workspaces. Rejects with `conflict` if
   * one has not ended, and with `not_found` if there is nothing of it.
   */
  conversation(contextId: string, principal: string): Promise<Deleted>;
}

/** What deleting needs of the server. */
export type DeletionsDeps = {
  readonly engine: Engine;
  /** The workspaces and artifacts; only the store is cleared if omitted. */
  readonly files?: HomeFiles | undefined;
  /** The kinds whose conversations have workspaces, also those without any run. */
  readonly kinds?: () => readonly string[];
  /** Receives each deletion, for the log. */
  readonly audit?: (record: { readonly principal: string; readonly runs: readonly string[] }) => void;
};

/** How long to wait for agents elsewhere before they count as pending, and for a run to stop. */
const waitMs = 5_000;

/** Opens the deletions of a store. */
export function createDeletions(deps: DeletionsDeps): Deletions {
  const { engine, files, kinds = () => [], audit } = deps;
  const inTurn = createKeyedQueue();
  const remove = async (runs: readonly RunRecord[], principal: string): Promise<Deleted> => {
    const forgetting = await forgetElsewhere(engine, runs);
    const emptied = (conversations: readonly Conversation[]) => {
      for (const conversation of conversations) files?.detach(conversation);
    };
    const what = { runIds: runs.map(({ id }) => id), principal, emptied, thorough: true };
    const deletion = await onceStopped(() => engine.delete(what));
    audit?.({ principal, runs: deletion.runs });
    await deleteRunsAbout(engine, runs, deletion, principal);
    await removeFiles(deletion, files);
    await inTurn("scrub", () => engine.scrub());
    return { deleted: deletion.runs, elsewhere: await outcomes(engine, forgetting) };
  };
  return {
    async run(run) {
      refuseUnfinished(run);
      return remove([run], run.principal);
    },
    async conversation(contextId, principal) {
      const runs = await all(engine, { contextId, principal });
      const tasks = runs.filter(({ kind }) => !kind.includes("/"));
      for (const run of tasks) refuseUnfinished(run);
      const done = tasks.length > 0 ? await remove(tasks, principal) : undefined;
      // Tools may have worked in the conversation without a run.
      const left = (await engine.list({ contextId, principal, limit: 1 })).total > 0;
      const had = left ? [] : kinds().map((kind) => files?.detach({ kind, principal, contextId }) ?? false);
      if (done === undefined && !had.includes(true))
        throw new AppError("not_found", `There is no conversation ${contextId}.`);
      if (files !== undefined) await clearNow(files);
      return done ?? { deleted: [], elsewhere: [] };
    },
  };
}

/**
 * The tasks that a canceled run has at agents stop a moment after it, so a conflict with them is
 * waited out.
 */
async function onceStopped<Value>(attempt: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + waitMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 500)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "conflict" || performance.now() >= deadline) throw error;
    }
    await Bun.sleep(pauseMs);
  }
}

function refuseUnfinished({ id, status }: RunRecord): void {
  if (terminalStatuses.includes(status)) return;
  throw new AppError("conflict", `The run ${id} has not ended. Cancel it first.`);
}

async function all(engine: Engine, filter: { readonly contextId: string; readonly principal: string }) {
  const runs: RunRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list({ ...filter, limit: 200, ...(cursor !== undefined && { cursor }) });
    runs.push(...page.runs);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return runs;
}

async function removeFiles({ files: hashes, endedAt }: Deletion, files: HomeFiles | undefined): Promise<void> {
  if (files === undefined) return;
  // What is stored after the end is another's; the clock of a file is coarser than ours.
  for (const sha256 of hashes) await files.removeArtifact(sha256, endedAt + 1_000);
  await clearNow(files);
}

/** What cannot be removed now is removed by a later sweep, which logs why it could not. */
async function clearNow(files: HomeFiles): Promise<void> {
  await files.clear().catch((error) => {
    if (!(error instanceof AppError)) throw error;
  });
}

/**
 * Deletes the runs that served deleted ones: they notified receivers of them, or cancelled their
 * tasks.
 */
async function deleteRunsAbout(
  engine: Engine,
  runs: readonly RunRecord[],
  deletion: Deletion,
  principal: string,
): Promise<void> {
  const gone = new Set(deletion.runs);
  const contexts = new Set([...deletion.runs, ...runs.map(({ contextId }) => contextId)]);
  for (const contextId of contexts)
    for (const run of await all(engine, { contextId, principal })) {
      if (!run.kind.includes("/") || run.kind === forgetKind(run.kind.split("/")[0] ?? "")) continue;
      const { taskId, runId } = run.input as { readonly taskId?: string; readonly runId?: string };
      if (gone.has(taskId ?? "") || gone.has(runId ?? "")) await endAndDelete(engine, run.id);
    }
}

async function endAndDelete(engine: Engine, id: string): Promise<void> {
  try {
    await engine.cancel(id).catch(ignoring("run_ended"));
    const deadline = performance.now() + waitMs;
    while (!terminalStatuses.includes((await engine.get(id))?.status ?? "canceled") && performance.now() < deadline)
      await Bun.sleep(10);
    await engine.delete({ runIds: [id], thorough: true });
  } catch (error) {
    // One that does not stop goes when its time is over.
    ignoring("conflict", "not_found")(error);
  }
}

function ignoring(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof AppError && codes.includes(error.code)) return undefined;
    throw error;
  };
}

/**
 * Starts a run that deletes what these runs gave to agents with another store. It is accepted
 * before the deletion and waits for it, so it happens whichever process is killed and when.
 */
async function forgetElsewhere(engine: Engine, runs: readonly RunRecord[]): Promise<readonly RunRecord[]> {
  const started: RunRecord[] = [];
  for (const run of runs) {
    const tasks = await remoteTasks(engine, run);
    if (tasks.length === 0) continue;
    const { id, kind, principal } = run;
    const dedupe = { key: `forget ${id}`, hash: id };
    const input = { runId: id, tasks } satisfies ForgetInput;
    started.push((await engine.start({ kind: forgetKind(kind), input, principal, contextId: id, dedupe })).run);
  }
  return started;
}

/** The tasks that a run, or one it asked for here, gave to agents with another store. */
async function remoteTasks(engine: Engine, run: RunRecord): Promise<RemoteTaskName[]> {
  const asked = new Map<string, RemoteTaskName["agent"]>();
  const found: RemoteTaskName[] = [];
  for (const { event } of await engine.events(run.id)) {
    const read = readEvent(event);
    if (read.type === "agent-asked") asked.set(read.askId, { name: read.agent, url: read.url });
    if (read.type !== "agent-accepted") continue;
    const agent = asked.get(read.askId);
    const here = await engine.get(read.taskId, run.principal);
    if (here !== undefined) found.push(...(await remoteTasks(engine, here)));
    else if (agent !== undefined && read.taskId !== "") found.push({ agent, taskId: read.taskId });
  }
  return found;
}

async function outcomes(engine: Engine, forgetting: readonly RunRecord[]): Promise<readonly RemoteOutcome[]> {
  const signal = AbortSignal.timeout(waitMs);
  const found = await Promise.all(
    forgetting.map(async (run): Promise<readonly RemoteOutcome[]> => {
      for await (const _ of engine.follow(run.id, { signal }));
      const { status, output } = (await engine.get(run.id)) ?? run;
      if (status === "completed") return output as unknown as readonly RemoteOutcome[];
      return (run.input as ForgetInput).tasks.map((task) => ({ ...task, outcome: "pending" }));
    }),
  );
  return found.flat();
}
