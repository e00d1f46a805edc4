import { type Engine, terminalStatuses } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition } from "../../core/run.ts";
import { callOff } from "./call-off.ts";
import { cancelOpen } from "./cancel-open.ts";
import { openAsks } from "./open-asks.ts";
import type { Peers } from "./peers.ts";
import type { AsksOfExecution } from "./under-way.ts";

/** How long agents that cannot be reached are tried again, and the longest pause between two tries. Milliseconds. */
const patienceMs = 24 * 60 * 60 * 1000;
const longestPauseMs = 10 * 60 * 1000;

/** The kind of run that recalls what runs of `kind` asked. */
function recallKind(kind: string): string {
  return `${kind}/recall`;
}

/**
 * A kind of run that asks other agents, so that none of its ends leaves a task of theirs at work: what is open when its body is through is
 * cancelled there, and what could not be reached then is recalled later. Have the engine work on `recallRun` of the same kind too.
 */
export function recalling(definition: RunDefinition, peers: Peers): RunDefinition {
  const settle = async (run: Run, asks: AsksOfExecution) => {
    if (asks.isNone() || (await cancelOpen(run, peers)) === 0) return;
    await run.step("recall", async () => {
      await startRecall(peers.engine, definition.kind, run, "ending");
      return null;
    });
  };
  const settled = async (run: Run, input: Json, asks: AsksOfExecution): Promise<Json> => {
    let output: Json;
    try {
      output = await definition.execute(run, input);
    } catch (error) {
      if (!run.abortSignal.aborted) await settle(run, asks);
      throw error;
    }
    await settle(run, asks);
    return output;
  };
  return {
    kind: definition.kind,
    async execute(run, input) {
      const asks = peers.underWay.execution(run.id);
      try {
        return await settled(run, input, asks);
      } finally {
        asks.forget();
      }
    },
  };
}

/**
 * The engine, whose `cancel` of a run of `kind` also cancels what the run asked other agents: by a durable run of its own, accepted
 * before the cancellation is, so that it happens whatever process is killed when, and is tried for a day where an agent cannot be reached.
 */
export function recallingEngine(engine: Engine, kind: string): Engine {
  return {
    ...engine,
    async cancel(runId) {
      const run = await engine.get(runId);
      if (run?.kind === kind && !terminalStatuses.includes(run.status))
        await startRecall(engine, kind, run, "canceled");
      await engine.cancel(runId);
    },
  };
}

/**
 * The kind of run that recalls: cancels what the asking run left open at other agents, once that has ended, and first cancels the run itself
 * where that is why.
 */
export function recallRun(kind: string, peers: Peers): RunDefinition {
  return {
    kind: recallKind(kind),
    async execute(run, input) {
      const { runId, why } = input as RecallInput;
      if (why === "canceled") await run.step("cancel", () => cancelIfOpen(peers.engine, runId));
      for (let waited = 0, pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        const left = await run.step("recall", ({ signal }) => recall(runId, peers, signal));
        if (left === 0) return null;
        if (waited > patienceMs)
          throw new AppError("unavailable", `${left} tasks at other agents could not be cancelled.`);
        await run.sleep(pauseMs);
        waited += pauseMs;
      }
    },
  };
}

/** The run, and why it is recalled: it was canceled, or it comes to its own end. */
type RecallInput = { readonly runId: string; readonly why: "canceled" | "ending" };

async function startRecall(
  engine: Pick<Engine, "start">,
  kind: string,
  { id, principal, contextId }: Pick<Run, "id" | "principal" | "contextId">,
  why: RecallInput["why"],
): Promise<void> {
  const dedupe = { key: `recall ${id}`, hash: id };
  const input = { runId: id, why } satisfies RecallInput;
  await engine.start({ kind: recallKind(kind), input, principal, contextId, dedupe });
}

async function cancelIfOpen(engine: Pick<Engine, "cancel">, runId: string): Promise<null> {
  try {
    await engine.cancel(runId);
  } catch (error) {
    if (!(error instanceof AppError && (error.code === "run_ended" || error.code === "not_found"))) throw error;
  }
  return null;
}

/** Cancels what a run left open at other agents; how many could not be told, or 1 while the run itself has not ended. */
async function recall(runId: string, { engine, ...peers }: Peers, signal: AbortSignal): Promise<number> {
  const run = await engine.get(runId);
  if (run !== undefined && !terminalStatuses.includes(run.status)) return 1;
  const open = openAsks((await engine.events(runId)).map(({ event }) => event));
  const calledOff = await Promise.all(open.map((ask) => callOff(ask, { engine, ...peers }, signal)));
  return calledOff.filter(({ done }) => !done).length;
}
