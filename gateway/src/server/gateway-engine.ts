import type { FlowDefinition } from "@manyhands/flows/flow";
import { flowRun } from "@manyhands/flows/flow-run";
import { type PushDeps, pushRun } from "@manyhands/shared/a2a/push/push-run";
import type { Engine } from "@manyhands/shared/durable/engine";
import type { Peers } from "@manyhands/shared/peers/peers";
import { recallingEngine, recallRun } from "@manyhands/shared/peers/recall";

/** Runs whose bodies are executed at once. They wait for agents most of their time and hold little. */
const concurrency = 1_000;

/** What executing flows needs, and how receivers are told of their runs. */
export type WorkDeps = Parameters<typeof flowRun>[1] & {
  readonly peers: Peers;
  readonly push: Omit<PushDeps, "kind" | "publicUrl">;
};

/** Has the engine execute the runs of a flow reached at `url`, recall what those that are cancelled asked of agents, and tell receivers of them. */
export function workOn(flow: FlowDefinition, url: string, engine: Engine, deps: WorkDeps): void {
  engine.work([flowRun(flow, deps), recallRun(flow.name, deps.peers)], { concurrency });
  engine.work([pushRun({ ...deps.push, kind: flow.name, publicUrl: url })], { concurrency, apart: true });
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
