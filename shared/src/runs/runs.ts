import type { Engine, ListFilter, RunRecord } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";
import type { IncomingMessage } from "../core/message.ts";
import type { AgentInput } from "../core/task.ts";
import { isAnswerSchema } from "../core/tool-input.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { continueRun, startRun } from "./accept-message.ts";
import { ownRun } from "./own-run.ts";
import type { ProjectionCache } from "./projection-cache.ts";
import type { Quotas } from "./quotas.ts";
import { type RunView, runView, statusOf } from "./run-view.ts";
import { kindsOf, type Runnable, type Runnables } from "./runnable.ts";
import { cancelRun, untilSettled } from "./settle.ts";

/** What `openRuns` needs. */
export type RunsDeps = {
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionCache;
  readonly runnables: Runnables;
  /** What principals may use. */
  readonly quotas: Quotas;
  /** The address at which this gateway is reached from outside. */
  readonly publicUrl: string;
};

/** A request to start a run. The same messageId of a principal is the same run. */
export type NewRun = Omit<AgentInput, "hops" | "flow" | "message"> & {
  readonly message: IncomingMessage;
  readonly hops?: number;
  readonly contextId?: string | undefined;
};

/**
 * Which runs to list: those of one runnable, with one status as callers see it, in one
 * conversation.
 */
export type RunFilter = Pick<ListFilter, "contextId" | "limit" | "cursor"> & {
  readonly of?: Runnable;
  readonly status?: RunView["status"];
};

/**
 * The runs of this gateway, through whichever adapter they came. Everything rejects with an
 * AppError; another principal's run looks like one that never existed.
 */
export interface Runs {
  /**
   * The run is on disk when this resolves. Rejects with `invalid_input` if the runnable cannot
   * start with the request, with `conflict` if the messageId was used for another message, and with
   * `quota_exceeded` if the principal has reached a limit.
   */
  start(runnable: Runnable, request: NewRun, principal: string): Promise<RunRecord>;
  own(id: string, principal: string): Promise<RunRecord>;
  /**
   * Leaves out runs that another run of this gateway asked for, since they are part of that run.
   */
  list(filter: RunFilter, principal: string): ReturnType<Engine["list"]>;
  view(run: RunRecord): Promise<RunView>;
  /**
   * Sends a message to a run that has not ended: the answer to its question, or a message that it
   * reads before its next turn. Rejects with `quota_exceeded` as `start` does.
   */
  answer(id: string, message: IncomingMessage, principal: string): Promise<RunRecord>;
  /**
   * Cancels a run and waits at most ten seconds for its end. Rejects with `run_ended` if it ended
   * in another state.
   */
  cancel(id: string, principal: string, signal: AbortSignal): Promise<RunRecord>;
  /** Resumes a paused run. Rejects with `conflict` if it is not paused. */
  resume(id: string, principal: string): Promise<RunRecord>;
  /**
   * The run once it has ended, is paused or waits for its caller, or as it is when `signal` aborts.
   */
  settled(run: RunRecord, signal: AbortSignal): Promise<RunRecord>;
}

/** Opens the runs in an engine. */
export function openRuns(deps: RunsDeps): Runs {
  const { engine, artifacts, projections, runnables, quotas, publicUrl } = deps;
  const own = (id: string, principal: string) => ownRun(engine, id, { principal });
  const newest = async (run: RunRecord) => (await engine.get(run.id)) ?? run;
  return {
    own,
    async settled(run, signal) {
      await untilSettled(deps, run, signal);
      return newest(run);
    },
    async start(runnable, { contextId = "", hops = 0, ...input }, principal) {
      if (input.outputSchema !== undefined && !isAnswerSchema(input.outputSchema))
        throw new AppError("invalid_input", "outputSchema: not a JSON Schema that answers can be checked against.");
      const quota = quotas.admit({ principal });
      return startRun(
        { engine, kind: runnable.kind, artifacts, admit: runnable.admit },
        { ...input, hops },
        { contextId, principal, quota },
      );
    },
    async list({ of, status, ...filter }, principal) {
      // The store also holds runs that are not a runnable's: push deliveries and cancellations.
      const kinds = of === undefined ? runnables.all().flatMap(kindsOf) : kindsOf(of);
      const all = { ...filter, kinds, principal, asked: false } as const;
      if (status === undefined) return engine.list(all);
      if (!underWay.has(status)) return engine.list({ ...all, statuses: [status as RunRecord["status"]] });
      const isSo = async (run: RunRecord) => statusOf(run, await projections.current(run)) === status;
      return listWhere(engine, { ...all, statuses: ["running", "waiting"] }, isSo);
    },
    view: async (run) =>
      runView(run, await projections.current(run), runnables.ofKind(run.kind)?.name ?? run.kind, publicUrl),
    async answer(id, message, principal) {
      const { kind } = await own(id, principal);
      const quota = quotas.admit({ principal });
      const intake = { engine, kind, artifacts, projections };
      return continueRun(intake, { id, contextId: "" }, message, { principal, quota });
    },
    async cancel(id, principal, signal) {
      const run = await own(id, principal);
      await cancelRun(deps, run, signal);
      return newest(run);
    },
    async resume(id, principal) {
      const run = await own(id, principal);
      if (run.status !== "paused") throw new AppError("conflict", `The run ${id} is ${run.status}, not paused.`);
      await engine.resume(id);
      return own(id, principal);
    },
  };
}

/** Statuses that only a run's journal distinguishes, not its record. */
const underWay: ReadonlySet<RunView["status"]> = new Set(["running", "waiting", "input-required", "auth-required"]);

type Page = Awaited<ReturnType<Engine["list"]>>;

const countedAtOnce = 200;

/**
 * A page of the runs that satisfy a condition on their events. Counting them reads every run of the
 * filter, so the filter should match few runs, such as those under way.
 */
async function listWhere(
  engine: Pick<Engine, "list">,
  filter: ListFilter,
  holds: (run: RunRecord) => Promise<boolean>,
): Promise<Page> {
  const fitting = async (runs: readonly RunRecord[]) => {
    const kept = await Promise.all(runs.map(holds));
    return runs.filter((_, at) => kept[at]);
  };
  const found: RunRecord[] = [];
  let cursor = filter.cursor;
  do {
    // Reads only as many as are missing, so that the page ends at its last run.
    const page = await engine.list({ ...filter, limit: filter.limit - found.length, ...(cursor && { cursor }) });
    found.push(...(await fitting(page.runs)));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < filter.limit);
  const { cursor: _, ...all } = filter;
  let total = 0;
  for (let next: string | undefined | null = null; next !== undefined; ) {
    const page: Page = await engine.list({ ...all, limit: countedAtOnce, ...(next !== null && { cursor: next }) });
    total += (await fitting(page.runs)).length;
    next = page.nextCursor;
  }
  return { runs: found, total, ...(cursor !== undefined && { nextCursor: cursor }) };
}
