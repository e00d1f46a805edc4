import { askHumanName } from "../../core/agent.ts";
import type { AgentState, TaskMessage } from "./agent-state.ts";

/**
 * What the user said, in messages and in answers to questions, oldest first. Never the words of a
 * model, a tool or a page: the message of a task from another agent is that agent's, and the user's
 * words come in `said`.
 */
export function userWords({ messages, hops, said }: Pick<AgentState, "messages" | "hops" | "said">): string[] {
  const own = usersOf(messages).flatMap((message) => {
    if (message.role === "tool") return [message.text];
    if (message.role !== "user" || hops > 0 || message.foreign === true) return [];
    return message.parts.flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "url" ? [part.url] : [],
    );
  });
  return [...said, ...own];
}

const found = new WeakMap<readonly TaskMessage[], { count: number; readonly messages: TaskMessage[] }>();

/**
 * The user's messages of a conversation, which only grows: what was searched is not searched again.
 */
function usersOf(messages: readonly TaskMessage[]): readonly TaskMessage[] {
  const known = found.get(messages) ?? { count: 0, messages: [] };
  for (; known.count < messages.length; known.count++) {
    const message = messages[known.count];
    if (message !== undefined && isUsers(message)) known.messages.push(message);
  }
  found.set(messages, known);
  return known.messages;
}

/** Whether a message is in the user's words. */
export function isUsers(message: TaskMessage): boolean {
  if (message.role === "user") return message.note !== true;
  return message.role === "tool" && message.name === askHumanName && !message.isError;
}
