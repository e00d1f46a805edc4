import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type ForgetInput, forgetKind, type RemoteOutcome, type RemoteTaskName } from "../../core/runs/forgetting.ts";
import type { RunDefinition } from "../../core/runs/run.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import type { Peers } from "./peers.ts";

/** How long to retry agents that cannot be reached, and the longest pause. Milliseconds. */
const patienceMs = 24 * 60 * 60 * 1000;
const longestPauseMs = 10 * 60 * 1000;
/** How long the deletion here may take that this one follows. */
const deletionMs = 60_000;
const longestMs = 5_000;

/**
 * The kind of run that deletes at other agents what a deleted run gave them. It returns what became
 * of each task. Agents of this system delete for each other; others keep what they have.
 */
export function forgetRun(kind: string, peers: Peers): RunDefinition {
  return {
    kind: forgetKind(kind),
    async execute(run, input) {
      const { runId, tasks } = input as ForgetInput;
      let done: readonly RemoteOutcome[] = [];
      let since: number | undefined;
      for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
        const known = new Set(done.map(({ taskId }) => taskId));
        const attempt = await run.step("forget", async ({ signal, now }) => {
          if ((await peers.engine.get(runId)) !== undefined) return { waits: true, outcomes: [], at: now() };
          const left = tasks.filter(({ taskId }) => !known.has(taskId));
          const acting = peers.actingFor(run.principal);
          const outcomes = await Promise.all(left.map((task) => deleteRemoteTask(task, acting, signal)));
          return { waits: false, outcomes, at: now() };
        });
        since ??= attempt.at;
        const pending = attempt.outcomes.filter(({ outcome }) => outcome === "pending");
        done = [...done, ...attempt.outcomes.filter(({ outcome }) => outcome !== "pending")];
        // The run was not deleted after all.
        if (attempt.waits && attempt.at - since > deletionMs) return [];
        if (!attempt.waits && pending.length === 0) return done as unknown as Json;
        if (attempt.at - since > patienceMs)
          return [...done, ...pending.map((task) => ({ ...task, outcome: "kept" }))] as unknown as Json;
        await run.sleep(pauseMs);
      }
    },
  };
}

/** Deletes a task at its agent. Idempotent: a task that is not there is deleted. */
async function deleteRemoteTask(task: RemoteTaskName, peers: Peers, caller: AbortSignal): Promise<RemoteOutcome> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(longestMs)]);
  try {
    const client = await peers.client(task.agent, signal);
    if (!client.ours) return { ...task, outcome: "kept" };
    const { url = peers.at(task.agent).url } =
      client.card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === "HTTP+JSON") ?? {};
    const address = `${withoutLastSlashes(peers.inside(url))}/tasks/${encodeURIComponent(task.taskId)}`;
    const headers = { "A2A-Version": "1.0" };
    const { status } = await peers.fetch(task.agent)(address, { method: "DELETE", headers, signal });
    if (status === 200 || status === 404) return { ...task, outcome: "deleted" };
    return { ...task, outcome: status === 405 || status === 403 ? "kept" : "pending" };
  } catch (error) {
    caller.throwIfAborted();
    const isFinal = error instanceof AppError && !error.retryable;
    return { ...task, outcome: isFinal ? "kept" : "pending" };
  }
}
