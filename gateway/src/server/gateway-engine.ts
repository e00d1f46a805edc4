import { cancelChildrenRun, engineCancellingChildren } from "manyhands/internal/a2a/ask/cancel-children";
import { forgetRun } from "manyhands/internal/a2a/ask/forget-run";
import type { Peers } from "manyhands/internal/a2a/ask/peers";
import type { A2aClient } from "manyhands/internal/a2a/client/client";
import { type PushDeps, pushRun } from "manyhands/internal/a2a/push/push-run";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import { flowRun } from "manyhands/internal/flow/flow-run";
import { extractDocument } from "manyhands/internal/tools/documents/extract-document";

/**
 * Runs executed at the same time. They mostly wait for agents and hold little memory.
 */
const concurrency = 1_000;

/** What executing flows and notifying receivers of their runs needs. */
export type WorkDeps = Parameters<typeof flowRun>[1] & {
  readonly peers: Peers;
  readonly push: Omit<PushDeps, "kind" | "publicUrl">;
};

/**
 * Registers with the engine: the runs of a flow reached at `url`, the runs that cancel its asks
 * after a cancellation, those that delete its tasks elsewhere, and those that notify receivers.
 */
export function workOn(flow: FlowDefinition, url: string, engine: Engine, deps: WorkDeps): void {
  const { name } = flow;
  const run = flowRun(flow, { ...deps, readDocument: extractDocument });
  engine.work([run, cancelChildrenRun(name, deps.peers), forgetRun(name, deps.peers)], { concurrency });
  engine.work([pushRun({ ...deps.push, kind: name, publicUrl: url })], { concurrency, dedicatedPool: true });
}

/**
 * The owner of a run: this gateway, or an agent of the same home, which then has to cancel it.
 */
export type Owners = {
  isOurs(kind: string): boolean;
  /**
   * A client, acting for the principal, of the agent whose own runs are of this kind; undefined for
   * any other. Rejects as the registry's `connect`.
   */
  agentOf(
    run: Pick<RunRecord, "kind" | "principal">,
    signal: AbortSignal,
  ): Promise<Pick<A2aClient, "cancel">> | undefined;
};

const askMs = 5_000;

/**
 * The engine, whose `cancel` also cancels what the gateway's own run asked of agents. A run started
 * at an agent is cancelled by that agent, so that it releases its tools; if the agent cannot be
 * reached, it is cancelled here.
 */
export function gatewayEngine(engine: Engine, { isOurs, agentOf }: Owners): Engine {
  return {
    ...engine,
    async cancel(runId) {
      const run = await engine.get(runId);
      if (run === undefined) return engine.cancel(runId);
      if (isOurs(run.kind)) return engineCancellingChildren(engine, run.kind).cancel(runId);
      const signal = AbortSignal.timeout(askMs);
      try {
        const agent = await agentOf(run, signal);
        if (agent !== undefined) await agent.cancel(runId, { signal });
      } catch (error) {
        if (!(error instanceof AppError) && !signal.aborted) throw error;
      }
      // A run that has ended by now stays as it is.
      await engine.cancel(runId);
    },
  };
}
