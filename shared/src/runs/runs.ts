import type { Engine, ListFilter, RunRecord } from "../core/engine.ts";
import { AppError } from "../core/errors.ts";
import type { UserMessage } from "../core/message.ts";
import type { AgentInput } from "../core/task.ts";
import { isAnswerSchema } from "../core/tool-input.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { continueRun, startRun } from "./accept-message.ts";
import { ownRun } from "./own-run.ts";
import type { ProjectionCache } from "./projection-cache.ts";
import { type RunView, runView, statusOf } from "./run-view.ts";
import { kindsOf, type Runnable, type Runnables } from "./runnable.ts";
import { cancelRun, untilSettled } from "./settle.ts";

/** What the runs of a gateway need. */
export type RunsDeps = {
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionCache;
  readonly runnables: Runnables;
  /** Where this gateway is reached from outside. */
  readonly publicUrl: string;
};

/** What starts a run. The same messageId of a principal is the same run. */
export type NewRun = Omit<AgentInput, "hops" | "flow"> & {
  readonly hops?: number;
  readonly contextId?: string | undefined;
};

/** Which runs to list: of one runnable, in one state as callers see it, of one conversation. */
export type RunFilter = Pick<ListFilter, "contextId" | "limit" | "cursor"> & {
  readonly of?: Runnable;
  readonly status?: RunView["status"];
};

/**
 * The runs of this gateway, whatever adapter they came by. Everything rejects with an AppError;
 * another principal's run is as unknown as one that never was.
 */
export interface Runs {
  /**
   * On disk when this resolves. Rejects with `invalid_input` for what the runnable cannot begin
   * with, `conflict` for a used messageId.
   */
  start(runnable: Runnable, request: NewRun, principal: string): Promise<RunRecord>;
  own(id: string, principal: string): Promise<RunRecord>;
  /** Each run once: what another run here asked an agent for is part of that one. */
  list(filter: RunFilter, principal: string): ReturnType<Engine["list"]>;
  view(run: RunRecord): Promise<RunView>;
  /**
   * Sends a message to a run that goes on: the answer to its question, or something to be heard at
   * its next step.
   */
  answer(id: string, message: UserMessage, principal: string): Promise<RunRecord>;
  /**
   * Asks it to end; waits at most ten seconds until it has. Rejects with `run_ended` when it ended
   * otherwise.
   */
  cancel(id: string, principal: string, signal: AbortSignal): Promise<RunRecord>;
  /** Lets a paused run try again. Rejects with `conflict` for one that is not paused. */
  resume(id: string, principal: string): Promise<RunRecord>;
  /** The run when it has ended or waits for its caller, or as it is when `signal` aborts. */
  settled(run: RunRecord, signal: AbortSignal): Promise<RunRecord>;
}

/** The runs in an engine. */
export function openRuns(deps: RunsDeps): Runs {
  const { engine, projections, runnables, publicUrl } = deps;
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
        throw new AppError("invalid_input", "outputSchema: it is not a JSON Schema that an answer can be held to.");
      return startRun(
        { engine, kind: runnable.kind, admit: runnable.admit },
        { ...input, hops },
        { contextId, principal },
      );
    },
    async list({ of, status, ...filter }, principal) {
      // A gateway's runs are not all there are in its store: deliveries and recalls of them are
      // there too.
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
      return continueRun({ engine, kind, projections }, { id, contextId: "" }, message, principal);
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

/** States that a run's journal tells apart, and its record does not. */
const underWay: ReadonlySet<RunView["status"]> = new Set(["running", "waiting", "input-required", "auth-required"]);

type Page = Awaited<ReturnType<Engine["list"]>>;

const countedAtOnce = 200;

/**
 * A page of the runs for which something holds that only their events tell. Every run of the filter
 * is looked at for the count, so that it should be one for few: those under way, say.
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
    // No longer than what is missing, so that the page ends where the last run of it is.
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
