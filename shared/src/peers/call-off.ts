import { AppError } from "../errors.ts";
import type { OpenAsk } from "./open-asks.ts";
import type { Peers } from "./peers.ts";
import { askMessage } from "./send-ask.ts";

/**
 * Sees to it that nothing of an ask goes on at the other agent; false when that could not be had now and may be later. Where the answer to
 * the message was lost, an agent of ours is sent it once more, which brings its task to light or begins it, and that is cancelled. Harmless to repeat.
 */
export async function callOff(ask: OpenAsk, peers: Peers, signal: AbortSignal): Promise<boolean> {
  try {
    const client = await peers.client(ask.agent, signal);
    const taskId = ask.taskId ?? (client.ours ? await find(ask, peers, signal) : "");
    if (taskId !== "") await client.cancel(taskId, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // It has ended, is unknown there, or cannot be cancelled by us: trying again changes none of it.
    return !error.retryable;
  }
}

async function find({ askId, agent, parts, contextId, hops }: OpenAsk, peers: Peers, signal: AbortSignal) {
  const client = await peers.client(agent, signal);
  const message = { ...(await askMessage(askId, parts, contextId, peers)), hops };
  const { task } = await client.submit(message, { signal });
  return task.id;
}
