import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { Engine, ListFilter, RunRecord } from "manyhands/internal/core/runs/engine";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { storedStatuses } from "manyhands/internal/runs/list-runs";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { type RunView, statusOf } from "manyhands/internal/runs/run-view";
import { openArtifacts } from "manyhands/internal/server/storage/open-artifacts";
import { openStore } from "manyhands/internal/server/storage/open-engine";
import * as z from "zod";
import { agentKind } from "../flows/agent-flow.ts";
import type { FileSource, TaskList, TaskSummary } from "./agent-client.ts";
import type { ShownState, TaskItem } from "./task-item.ts";

/**
 * The runs of agents and flows as they are on this machine's disk, for reading while no server is
 * up.
 */
export interface StoredRuns extends TaskList, FileSource {
  /** Newest first; with `status`, only those with it. */
  list(options: {
    readonly limit: number;
    readonly status?: RunView["status"] | undefined;
    readonly signal: AbortSignal;
  }): Promise<readonly TaskSummary[]>;
  /** Whose run it is: the kind of it. Undefined for one that is not there. */
  kindOf(runId: string): Promise<string | undefined>;
  /** Everything that happened in a run so far, and where it stands. Rejects with `not_found`. */
  show(runId: string): AsyncIterable<TaskItem>;
  /**
   * Lets a paused run try again, at the server that is up or the next one. Rejects with
   * `not_found`.
   */
  resume(runId: string): Promise<void>;
}

const input = z.looseObject({
  message: z.looseObject({ parts: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })) }),
});

/**
 * The runs of `kind` in an engine's store, or those of every agent and flow. Executes none of them.
 */
export function storedRuns(engine: Engine, artifacts: ArtifactStore, kind?: string): StoredRuns {
  const projections = createProjectionCache(engine);
  const stateOf = async (run: RunRecord) => stateName(statusOf(run, await projections.current(run)), run);
  const find = async (runId: string): Promise<RunRecord> => {
    const run = await engine.get(runId);
    const isThere = run !== undefined && isTask(run) && (kind === undefined || run.kind === kind);
    if (!isThere) throw new AppError("not_found", `There is no run ${runId}.`);
    return run;
  };
  return {
    async kindOf(runId) {
      const run = await engine.get(runId);
      return run !== undefined && isTask(run) ? run.kind : undefined;
    },
    async list({ limit, status }) {
      const runs = await newest(engine, {
        limit,
        // What a run asked of an agent is a part of that run; among an agent's own it is one of
        // them.
        filter: {
          ...(kind === undefined ? { asked: false } : { kind }),
          ...(status !== undefined && { statuses: storedStatuses([status]) }),
        },
        fits: async (run) => status === undefined || status === statusOf(run, await projections.current(run)),
      });
      return Promise.all(
        runs.map(async (run) => ({
          id: run.id,
          ...(kind === undefined && { of: nameOf(run.kind) }),
          contextId: run.contextId,
          state: await stateOf(run),
          updatedAt: run.updatedAt,
          title: titleOf(run),
        })),
      );
    },
    async *show(runId) {
      const run = await find(runId);
      for (const { seq, at, event } of await engine.events(runId)) {
        const known = readEvent(event);
        // Whether it is paused now is what the state says.
        const isPause = known.type === "run-paused" || known.type === "run-resumed";
        if (known.type !== "unknown" && !isPause) yield { kind: "event", seq, at, event: known };
      }
      const { id: taskId, contextId } = run;
      const state = await stateOf(run);
      // What it asks is among its events.
      const text = run.error?.message ?? (state === "input-required" ? undefined : run.waiting?.reason);
      yield { kind: "state", taskId, contextId, state, ...(text === undefined ? {} : { text }) };
    },
    async resume(runId) {
      const { status } = await find(runId);
      if (status !== "paused") throw new AppError("conflict", `The run ${runId} is ${status}, not paused.`);
      await engine.resume(runId);
    },
    async file(part) {
      const content = part.type === "file" ? await artifacts.get(part.sha256) : undefined;
      if (content === undefined)
        throw new AppError("not_found", `The file ${part.name ?? "of the run"} is not here any more.`);
      return content.bytes();
    },
  };
}

/** Runs of kinds with a slash see to something beside tasks: that receivers are told, say. */
function isTask({ kind }: RunRecord): boolean {
  return !kind.includes("/");
}

type Wanted = {
  readonly limit: number;
  readonly filter: Omit<ListFilter, "limit" | "cursor">;
  readonly fits: (run: RunRecord) => Promise<boolean>;
};

async function newest(engine: Engine, { limit, filter, fits }: Wanted): Promise<RunRecord[]> {
  const found: RunRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list({ ...filter, limit, ...(cursor !== undefined && { cursor }) });
    for (const run of page.runs) if (isTask(run) && (await fits(run))) found.push(run);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < limit);
  return found.slice(0, limit);
}

/** A run's status in words, those of A2A where they have one for it. */
function stateName(status: ReturnType<typeof statusOf>, { error }: RunRecord): ShownState {
  if (status === "queued") return "submitted";
  if (status === "running" || status === "waiting") return "working";
  return status === "failed" && error?.code === "rejected" ? "rejected" : status;
}

/** Whose runs are of a kind: those that hand a task to an agent are the agent's. */
function nameOf(kind: string): string {
  const handing = agentKind("");
  return kind.startsWith(handing) ? kind.slice(handing.length) : kind;
}

function titleOf(run: RunRecord): string {
  const parsed = input.safeParse(run.input);
  return parsed.data?.message.parts.find(({ text }) => text !== undefined)?.text ?? "";
}

/**
 * Opens the runs of the settings, of one kind or of all agents and flows; to be disposed. Undefined
 * if there are none yet. Servers may be at work on them.
 */
export async function openStoredRuns(
  config: Config,
  kind?: string,
): Promise<(AsyncDisposable & { readonly runs: StoredRuns }) | undefined> {
  const engine = await openStore(config);
  return (
    engine && {
      runs: storedRuns(engine, openArtifacts(config), kind),
      [Symbol.asyncDispose]: () => engine.close(),
    }
  );
}
