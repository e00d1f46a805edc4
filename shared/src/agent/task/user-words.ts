import { askHumanName } from "../../core/agent.ts";
import type { AgentState, TaskMessage } from "./agent-state.ts";

/**
 * What the user said, in messages and as answers to questions, oldest first. Nothing that a model,
 * a tool or a page said: of a task that comes from another agent, the message is that agent's, and
 * the user's words come beside it.
 */
export function userWords({ messages, hops, said }: Pick<AgentState, "messages" | "hops" | "said">): string[] {
  const own = messages.flatMap((message) => {
    if (!isUsers(message)) return [];
    if (message.role === "tool") return [message.text];
    if (message.role !== "user" || hops > 0) return [];
    return message.parts.flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "url" ? [part.url] : [],
    );
  });
  return [...said, ...own];
}

/** Whether a message is in the user's words. */
export function isUsers(message: TaskMessage): boolean {
  if (message.role === "user") return message.note !== true;
  return message.role === "tool" && message.name === askHumanName && !message.isError;
}
