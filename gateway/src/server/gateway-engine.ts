import { cancelChildrenRun, engineCancellingChildren } from "manyhands/internal/a2a/ask/cancel-children";
import type { Peers } from "manyhands/internal/a2a/ask/peers";
import type { A2aClient } from "manyhands/internal/a2a/client/client";
import { type PushDeps, pushRun } from "manyhands/internal/a2a/push/push-run";
import type { Engine } from "manyhands/internal/core/engine";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { flowRun } from "manyhands/internal/flow/flow-run";

/**
 * Runs whose bodies are executed at once. They wait for agents most of their time and hold little.
 */
const concurrency = 1_000;

/** What executing flows needs, and how receivers are told of their runs. */
export type WorkDeps = Parameters<typeof flowRun>[1] & {
  readonly peers: Peers;
  readonly push: Omit<PushDeps, "kind" | "publicUrl">;
};

/**
 * Has the engine execute the runs of a flow reached at `url`, recall what those that are cancelled
 * asked of agents, and tell receivers of them.
 */
export function workOn(flow: FlowDefinition, url: string, engine: Engine, deps: WorkDeps): void {
  engine.work([flowRun(flow, deps), cancelChildrenRun(flow.name, deps.peers)], { concurrency });
  engine.work([pushRun({ ...deps.push, kind: flow.name, publicUrl: url })], { concurrency, dedicatedPool: true });
}

/**
 * Whose a run is: this gateway's, or an agent's of the same home, which then has to be asked to
 * cancel it.
 */
export type Owners = {
  isOurs(kind: string): boolean;
  /**
   * A client of the agent whose own runs are of this kind; undefined for any other. Rejects as the
   * registry's `connect`.
   */
  agentOf(kind: string, signal: AbortSignal): Promise<Pick<A2aClient, "cancel">> | undefined;
};

const askMs = 5_000;

/**
 * The engine, whose `cancel` of a run of its own also cancels what that asked of agents. A run that
 * was started at an agent is ended by the agent, which has things to let go of; where that cannot
 * be reached, here.
 */
export function gatewayEngine(engine: Engine, { isOurs, agentOf }: Owners): Engine {
  return {
    ...engine,
    async cancel(runId) {
      const { kind = "" } = (await engine.get(runId)) ?? {};
      if (isOurs(kind)) return engineCancellingChildren(engine, kind).cancel(runId);
      const signal = AbortSignal.timeout(askMs);
      try {
        const agent = await agentOf(kind, signal);
        if (agent !== undefined) await agent.cancel(runId, { signal });
      } catch (error) {
        if (!(error instanceof AppError) && !signal.aborted) throw error;
      }
      // A run that has ended by now stays as it is.
      await engine.cancel(runId);
    },
  };
}
