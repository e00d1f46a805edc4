import type { TaskMessage } from "../task/agent-state.ts";
import { isUsers } from "../task/user-words.ts";
import { messageTokens } from "./prompt-tokens.ts";

/**
 * The share of the model's window that the user's own words may fill verbatim; beyond that, the
 * oldest are summed up.
 */
const maxShare = 0.3;

/**
 * What a compaction made of a conversation. `pinned` is how many of the user's messages stayed
 * beside the goal; left out where only the goal did.
 */
export type Compaction = { readonly summary: string; readonly kept: number; readonly pinned?: number };

/** The conversation after a compaction; also how a later task reads it from the journal. */
export function compacted(
  messages: readonly TaskMessage[],
  goal: TaskMessage,
  { summary, kept, pinned: count = 0 }: Compaction,
): TaskMessage[] {
  const from = messages.length - kept;
  return [...pinned(messages.slice(0, from), goal, count), { role: "summary", text: summary }, ...messages.slice(from)];
}

/**
 * What a compaction leaves word for word of the messages it takes away: what the user said, and the
 * questions the user answered. The goal stays always, of the others the newest `count`.
 */
export function pinned(messages: readonly TaskMessage[], goal: TaskMessage, count: number): TaskMessage[] {
  const words = messages.flatMap((message, at) => (message !== goal && isUsers(message) ? [at] : []));
  const staying = new Set(count === 0 ? [] : words.slice(-count));
  const answered = new Set(
    messages.flatMap((message, at) => (message.role === "tool" && staying.has(at) ? [message.callId] : [])),
  );
  return messages.flatMap((message, at): TaskMessage[] => {
    if (message === goal || staying.has(at)) return [message];
    if (message.role !== "assistant") return [];
    const toolCalls = message.toolCalls.filter(({ id }) => answered.has(id));
    if (toolCalls.length === message.toolCalls.length && message.text === "" && toolCalls.length > 0) return [message];
    return toolCalls.length === 0 ? [] : [{ role: "assistant", text: "", toolCalls }];
  });
}

/** How many of them fit, and the tokens they make with the goal. */
export function pinnable(
  messages: readonly TaskMessage[],
  goal: TaskMessage,
  contextWindow: number,
): { readonly count: number; readonly tokens: number } {
  let tokens = messages.includes(goal) ? messageTokens(goal) : 0;
  let count = 0;
  for (const message of messages.filter((each) => each !== goal && isUsers(each)).toReversed()) {
    const size = messageTokens(message);
    if (tokens + size > contextWindow * maxShare) break;
    tokens += size;
    count++;
  }
  return { count, tokens };
}
