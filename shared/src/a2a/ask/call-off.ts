import type { Task } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { TaskUsage } from "../../core/usage.ts";
import type { A2aClient } from "../client/client.ts";
import { taskUsage } from "../task-usage.ts";
import { expectedFailure } from "./in-time.ts";
import type { OpenAsk } from "./open-asks.ts";
import type { Peers } from "./peers.ts";

/** What came of calling an ask off: whether that is done with, and what its task had used, where the agent tells. */
export type CalledOff = { readonly done: boolean; readonly usage?: TaskUsage };

/** An agent that hangs is called off later. */
const longestMs = 5_000;

/**
 * Sees to it that nothing of an ask goes on at the other agent; not done when that could not be had now and may be later. Where the answer to
 * the message was lost, its task is cancelled by the message's id, and the message is never sent again to learn it. Harmless to repeat.
 */
export async function callOff(ask: OpenAsk, peers: Peers, caller: AbortSignal): Promise<CalledOff> {
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
    // It is unknown there, or cannot be cancelled by us: trying again changes none of it.
    return { done: !failure.retryable };
  }
}

/** The task after its cancellation, or as it had ended before; none where the agent knows of none. */
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
