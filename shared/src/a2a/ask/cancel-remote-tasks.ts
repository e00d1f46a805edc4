import type { Task } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import type { TaskUsage } from "../../core/usage.ts";
import type { A2aClient } from "../client/client.ts";
import { taskUsage } from "../task-metadata.ts";
import { expectedFailure } from "./attempt.ts";
import type { PeerAddress, Peers } from "./peers.ts";

/**
 * Cancels at the other agents the asks below `run` that are still open. Call it after a `run.race`
 * or a `run.all` that rejected: their aborted branches could not do so themselves. Returns how many
 * agents could not be reached; `cancellingChildren` retries those.
 */
export async function cancelOpen(run: Run, peers: Peers): Promise<number> {
  // When the next step begins, this step's record is on disk together with every event before it.
  // Only then do the events show what is open.
  await run.step("settle asks", async () => null, { effect: "pure" });
  return run.step("cancel open asks", async (step) => {
    const events = await peers.engine.events(run.id);
    const below = step.key.slice(0, step.key.lastIndexOf("/") + 1);
    const open = openAsks(events.map(({ event }) => event)).filter(({ askId }) => askId.startsWith(below));
    const own = peers.actingFor(run.principal);
    const cancellations = await Promise.all(open.map((ask) => cancelRemoteTask(ask, own, step.signal)));
    for (const [index, { askId, agent }] of open.entries()) {
      const { done = false, usage } = cancellations[index] ?? {};
      if (done) step.emit(canceled(askId, agent.name, usage));
    }
    return cancellations.filter(({ done }) => !done).length;
  });
}

function canceled(askId: string, agent: string, usage: TaskUsage | undefined) {
  const event = { type: "agent-answered", askId, agent, state: "canceled", files: [] } as const satisfies JournalEvent;
  return { ...event, ...(usage !== undefined && { usage }) };
}

/** Cancels at the other agent what was given up here. */
export function cancelGivenUp(run: Run, ask: OpenAsk, peers: Peers): Promise<RemoteCancellation> {
  return run.step("withdraw", ({ signal }) => cancelRemoteTask(ask, peers, signal));
}

/**
 * The result of cancelling an ask: whether nothing is left to do, and its task's usage if the agent
 * reports it.
 */
type RemoteCancellation = { readonly done: boolean; readonly usage?: TaskUsage };

/** An agent that hangs longer than this is retried later. */
const longestMs = 5_000;

/**
 * Cancels an ask's task at the other agent. Not `done` if it failed now but may succeed later. If
 * the answer to the message was lost, the task is cancelled by the message's id; the message is
 * never sent again to find it. Idempotent.
 */
export async function cancelRemoteTask(ask: OpenAsk, peers: Peers, caller: AbortSignal): Promise<RemoteCancellation> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(longestMs)]);
  try {
    const client = await peers.client(ask.agent, signal);
    const task = await cancelled(client, ask, signal);
    const usage = task && taskUsage(task);
    return { done: true, ...(usage !== undefined && { usage }) };
  } catch (error) {
    caller.throwIfAborted();
    const failure = expectedFailure(error);
    if (failure === undefined) throw error;
    // The agent does not know the task or refuses to cancel it; trying again would not change that.
    return { done: !failure.retryable };
  }
}

/**
 * The task after its cancellation, or as it had ended before; undefined if the agent does not know
 * it.
 */
async function cancelled(
  client: A2aClient,
  { askId, taskId, contextId }: OpenAsk,
  signal: AbortSignal,
): Promise<Task | undefined> {
  if (taskId === undefined)
    return client.cancelMessage(askId, { signal, ...(contextId !== undefined && { contextId }) });
  try {
    return await client.cancel(taskId, { signal });
  } catch (error) {
    if (error instanceof AppError && error.code === "run_ended") return client.get(taskId, { signal });
    throw error;
  }
}

/**
 * An ask whose task at another agent may be running. Without `taskId`, it is unknown whether the
 * agent received the message.
 */
export type OpenAsk = {
  readonly askId: string;
  readonly agent: PeerAddress;
  readonly contextId?: string;
  readonly taskId?: string;
};

/** The asks that a run's events leave open. */
export function openAsks(events: readonly RunEvent[]): OpenAsk[] {
  const open = new Map<string, OpenAsk>();
  for (const each of events) {
    const event = readEvent(each);
    if (event.type === "agent-asked") {
      const { askId, agent: name, url, contextId } = event;
      open.set(askId, { askId, agent: { name, url }, ...(contextId !== undefined && { contextId }) });
    } else if (event.type === "agent-accepted") {
      const known = open.get(event.askId);
      if (known !== undefined) open.set(event.askId, { ...known, taskId: event.taskId });
    } else if (event.type === "agent-answered" && event.left !== true) {
      open.delete(event.askId);
    }
  }
  return [...open.values()];
}
