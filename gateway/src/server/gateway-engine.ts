import type { FlowDefinition } from "@manyhands/flows/flow";
import { flowRun } from "@manyhands/flows/flow-run";
import type { Engine } from "@manyhands/shared/durable/engine";
import type { Peers } from "@manyhands/shared/peers/peers";
import { recallingEngine, recallRun } from "@manyhands/shared/peers/recall";

/** Runs whose bodies are executed at once. They wait for agents most of their time and hold little. */
const concurrency = 1_000;

/** Has the engine execute the runs of a flow, and recall what those that are cancelled asked of agents. */
export function workOn(
  flow: FlowDefinition,
  engine: Engine,
  deps: Parameters<typeof flowRun>[1] & { readonly peers: Peers },
): void {
  engine.work([flowRun(flow, deps), recallRun(flow.name, deps.peers)], { concurrency });
}

/** The engine, whose `cancel` of any run of these kinds also cancels what it asked of agents. */
export function gatewayEngine(engine: Engine, isOurs: (kind: string) => boolean): Engine {
  return {
    ...engine,
    async cancel(runId) {
      const run = await engine.get(runId);
      const recalling = run !== undefined && isOurs(run.kind) ? recallingEngine(engine, run.kind) : engine;
      await recalling.cancel(runId);
    },
  };
}
