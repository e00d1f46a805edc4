import { askHumanName } from "../core/control-calls.ts";
import { messageTokens } from "./prompt-tokens.ts";
import type { TaskMessage } from "./task-state.ts";

/** Of the model's window, what the user's own words may take up word for word; beyond that the oldest are summed up. */
const mostShare = 0.3;

/**
 * What a compaction leaves word for word of the messages it takes away: what the user said, and the questions the user answered. The goal stays
 * always, of the others the newest `count`.
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
    if (tokens + size > contextWindow * mostShare) break;
    tokens += size;
    count++;
  }
  return { count, tokens };
}

/** Whether a message is in the user's words. */
export function isUsers(message: TaskMessage): boolean {
  if (message.role === "user") return message.note !== true;
  return message.role === "tool" && message.name === askHumanName && !message.isError;
}
