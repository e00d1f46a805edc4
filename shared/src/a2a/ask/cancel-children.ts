import { type Engine, terminalStatuses } from "../../core/engine.ts";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Run, RunDefinition, StepContext } from "../../core/run.ts";
import { cancelOpen, cancelRemoteTask, openAsks } from "./cancel-remote-tasks.ts";
import type { PeerAddress, Peers } from "./peers.ts";
import type { AsksOfExecution } from "./under-way.ts";

/**
 * How long agents that cannot be reached are tried again, and the longest pause between two tries.
 * Milliseconds.
 */
const patienceMs = 24 * 60 * 60 * 1000;
const longestPauseMs = 10 * 60 * 1000;

/** The kind of run that recalls what runs of `kind` asked. */
function cancelChildrenKind(kind: string): string {
  return `${kind}/recall`;
}

/**
 * A kind of run that asks other agents, so that none of its ends leaves a task of theirs at work:
 * what is open when its body is through is cancelled there, and what could not be reached then is
 * recalled later. Have the engine work on `recallRun` of the same kind too.
 */
export function cancellingChildren(definition: RunDefinition, peers: Peers): RunDefinition {
  const settle = async (run: Run, asks: AsksOfExecution) => {
    if (asks.isNone() || (await cancelOpen(run, peers)) === 0) return;
    await run.step("recall", async () => {
      await startCancelChildren(peers.engine, definition.kind, run, "ending");
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
 * The engine, whose `cancel` of a run of `kind` also cancels what the run asked other agents: by a
 * durable run of its own, accepted before the cancellation is, so that it happens whatever process
 * is killed when, and is tried for a day where an agent cannot be reached.
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
 * The kind of run that recalls: cancels what the asking run left open at other agents, once that
 * has ended, and first cancels the run itself where that is why.
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
        // Taken before the try, so that no moment between it and the pause is missed; an agent that
        // is away stays away from the first try on.
        const until = AbortSignal.any(away.flatMap((agent) => peers.retrySignal(agent) ?? []));
        const tried: ChildrenCancelled | number = await run.step("recall", (step) =>
          cancelChildren(runId, peers, step),
        );
        // Once, how many were left was all that was recorded.
        const { left, at, ...still } = typeof tried === "number" ? { left: tried, away, at: since ?? 0 } : tried;
        if (left === 0) return null;
        away = still.away;
        since ??= typeof tried === "number" ? undefined : at;
        if (at - (since ?? at) > patienceMs)
          throw new AppError("unavailable", `${left} tasks at other agents could not be cancelled.`);
        await run.sleep(pauseMs, { until });
      }
    },
  };
}

/** The run, and why it is recalled: it was canceled, or it comes to its own end. */
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

/** What a try came to: how many could not be told, at which agents, and when it was. */
type ChildrenCancelled = { readonly left: number; readonly away: readonly PeerAddress[]; readonly at: number };

/**
 * Cancels what a run left open at other agents. While the run itself has not ended, that is what is
 * left.
 */
async function cancelChildren(runId: string, peers: Peers, { signal, now }: StepContext): Promise<ChildrenCancelled> {
  const run = await peers.engine.get(runId);
  if (run !== undefined && !terminalStatuses.includes(run.status)) return { left: 1, away: [], at: now() };
  const open = openAsks((await peers.engine.events(runId)).map(({ event }) => event));
  const cancellations = await Promise.all(open.map((ask) => cancelRemoteTask(ask, peers, signal)));
  const away = open.flatMap(({ agent }, index) => (cancellations[index]?.done === true ? [] : [agent]));
  return { left: away.length, away, at: now() };
}
