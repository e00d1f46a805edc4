import { AppError } from "../core/errors.ts";
import type { IncomingMessage } from "../core/message.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { answerSchema } from "../core/tools/answer-schema.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import { continueRun, findRunOfMessage, startRun } from "./accept-message.ts";
import { listRuns, type RunFilter, type RunPage } from "./list-runs.ts";
import { ownRun } from "./own-run.ts";
import type { ProjectionCache } from "./projection-cache.ts";
import type { Quotas } from "./quotas.ts";
import { type RunView, runView } from "./run-view.ts";
import type { Runnable, Runnables } from "./runnable.ts";
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
  /** The run of this kind that `start` has stored for a messageId, if it has. */
  started(kind: string, messageId: string, principal: string): Promise<RunRecord | undefined>;
  own(id: string, principal: string): Promise<RunRecord>;
  /**
   * Leaves out runs that another run of this gateway asked for, since they are part of that run.
   */
  list(filter: RunFilter, principal: string): Promise<RunPage>;
  view(run: RunRecord): Promise<RunView>;
  /**
   * Sends a message to a run that has not ended: the answer to its question, or a message that it
   * reads before its next turn. With `questionEvent`, the number of the event that asked, it is an
   * answer to that question only. Rejects with `quota_exceeded` as `start` does, and with
   * `conflict` when another question is open, or none.
   */
  answer(id: string, message: IncomingMessage, principal: string, questionEvent?: number): Promise<RunRecord>;
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
      // Throws for one that no answer can be checked against.
      if (input.outputSchema !== undefined) answerSchema(input.outputSchema);
      const quota = await quotas.admit({ principal });
      return startRun(
        { engine, kind: runnable.kind, artifacts, admit: runnable.admit, projections },
        { ...input, hops },
        { contextId, principal, quota },
      );
    },
    started: (kind, messageId, principal) => findRunOfMessage({ engine, kind }, messageId, principal),
    list: (filter, principal) => listRuns(deps, filter, principal),
    view: async (run) =>
      runView(run, await projections.current(run), runnables.ofKind(run.kind)?.name ?? run.kind, publicUrl),
    async answer(id, message, principal, questionEvent) {
      const { kind } = await own(id, principal);
      const quota = await quotas.admit({ principal });
      const intake = { engine, kind, artifacts, projections };
      return continueRun(intake, { id, contextId: "", questionEvent }, message, { principal, quota });
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
