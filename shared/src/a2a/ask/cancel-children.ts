import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { mapBodies } from "../../core/runs/bodies.ts";
import { type Engine, terminalStatuses } from "../../core/runs/engine.ts";
import type { Run, RunDefinition, StepContext } from "../../core/runs/run.ts";
import { counted } from "../../core/text/counted.ts";
import { cancelOpen, cancelRemoteTask, openAsks } from "./cancel-remote-tasks.ts";
import type { PeerAddress, Peers } from "./peers.ts";
import type { AsksOfExecution } from "./under-way.ts";

/**
 * How long to retry unreachable agents, and the longest pause between two attempts. Milliseconds.
 */
const patienceMs = 24 * 60 * 60 * 1000;
const longestPauseMs = 10 * 60 * 1000;

/** The kind of run that cancels what runs of `kind` asked. */
function cancelChildrenKind(kind: string): string {
  return `${kind}/recall`;
}

/**
 * A kind of run that asks other agents and leaves none of their tasks running, however it ends.
 * Tasks still open when its body ends are cancelled; agents that are unreachable then are retried
 * later. The engine must also execute `cancelChildrenRun` of the same kind.
 */
export function cancellingChildren(definition: RunDefinition, peers: Peers): RunDefinition {
  const settle = async (run: Run, asks: AsksOfExecution) => {
    if (asks.isNone() || (await cancelOpen(run, peers)) === 0) return;
    await run.step("recall", async () => {
      await startCancelChildren(peers.engine, definition.kind, run, "ending");
      return null;
    });
  };
  const settled = async (
    execute: RunDefinition["execute"],
    run: Run,
    input: Json,
    asks: AsksOfExecution,
  ): Promise<Json> => {
    let output: Json;
    try {
      output = await execute(run, input);
    } catch (error) {
      if (!run.abortSignal.aborted) await settle(run, asks);
      throw error;
    }
    await settle(run, asks);
    return output;
  };
  return mapBodies(definition, (execute) => async (run, input) => {
    const asks = peers.underWay.execution(run.id);
    try {
      return await settled(execute, run, input, asks);
    } finally {
      asks.forget();
    }
  });
}

/**
 * The engine, with a `cancel` that also cancels what a run of `kind` asked other agents. A separate
 * durable run does so; it is accepted before the cancellation, so it happens whichever process is
 * killed and when. Unreachable agents are retried for a day.
 */
export function engineCancellingChildren(engine: Engine, kind: string): Engine {
  return {
    ...engine,
    async cancel(runId) {
      const run = await engine.get(runId);
      if (run?.kind === kind && !terminalStatuses.includes(run.status))
        await startCancelChildren(engine, kind, run, "canceled");
      await engine.cancel(runId);
    },
  };
}

/**
 * The kind of run that cancels what the asking run left open at other agents, once that run has
 * ended. If the asking run was canceled, it is cancelled first.
 */
export function cancelChildrenRun(kind: string, peers: Peers): RunDefinition {
  return {
    kind: cancelChildrenKind(kind),
    async execute(run, input) {
      const { runId, why } = input as CancelChildrenInput;
      if (why === "canceled") await run.step("cancel", () => cancelIfOpen(peers.engine, runId));
      let since: number | undefined;
      let away: readonly PeerAddress[] = [];
      for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        // Taken before the attempt, so that no signal between the attempt and the pause is missed.
        // An agent that is away counts as away from the first attempt on.
        const until = AbortSignal.any(away.flatMap((agent) => peers.retrySignal(agent) ?? []));
        const attempt: ChildrenCancelled | number = await run.step("recall", (step) =>
          cancelChildren(runId, peers.actingFor(run.principal), step),
        );
        // Older journals recorded only the number left.
        const { left, at, ...still } = typeof attempt === "number" ? { left: attempt, away, at: since ?? 0 } : attempt;
        if (left === 0) return null;
        away = still.away;
        since ??= typeof attempt === "number" ? undefined : at;
        if (at - (since ?? at) > patienceMs)
          throw new AppError("unavailable", `${counted(left, "task")} at other agents could not be cancelled.`);
        await run.sleep(pauseMs, { until });
      }
    },
  };
}

/**
 * The asking run, and why the tasks it asked for are canceled: it was canceled, or it is ending.
 */
type CancelChildrenInput = { readonly runId: string; readonly why: "canceled" | "ending" };

async function startCancelChildren(
  engine: Pick<Engine, "start">,
  kind: string,
  { id, principal, contextId }: Pick<Run, "id" | "principal" | "contextId">,
  why: CancelChildrenInput["why"],
): Promise<void> {
  const dedupe = { key: `recall ${id}`, hash: id };
  const input = { runId: id, why } satisfies CancelChildrenInput;
  await engine.start({ kind: cancelChildrenKind(kind), input, principal, contextId, dedupe });
}

async function cancelIfOpen(engine: Pick<Engine, "cancel">, runId: string): Promise<null> {
  try {
    await engine.cancel(runId);
  } catch (error) {
    if (!(error instanceof AppError && (error.code === "run_ended" || error.code === "not_found"))) throw error;
  }
  return null;
}

/** The result of an attempt: how many tasks are left, at which agents, and the time. */
type ChildrenCancelled = { readonly left: number; readonly away: readonly PeerAddress[]; readonly at: number };

/**
 * Cancels what a run left open at other agents. While the run itself has not ended, it counts as
 * the one left.
 */
async function cancelChildren(runId: string, peers: Peers, { signal, now }: StepContext): Promise<ChildrenCancelled> {
  const run = await peers.engine.get(runId);
  if (run !== undefined && !terminalStatuses.includes(run.status)) return { left: 1, away: [], at: now() };
  const open = openAsks((await peers.engine.events(runId)).map(({ event }) => event));
  const cancellations = await Promise.all(open.map((ask) => cancelRemoteTask(ask, peers, signal)));
  const away = open.flatMap(({ agent }, index) => (cancellations[index]?.done === true ? [] : [agent]));
  return { left: away.length, away, at: now() };
}
