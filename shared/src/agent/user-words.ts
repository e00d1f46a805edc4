import { askHumanName } from "../core/control-calls.ts";
import type { TaskState } from "./task-state.ts";

/**
 * What the user said, in messages and as answers to questions, oldest first. Nothing that a model, a tool or a page said: of a task that comes
 * from another agent, the message is that agent's, and the user's words come beside it.
 */
export function userWords({ messages, hops, said }: Pick<TaskState, "messages" | "hops" | "said">): string[] {
  const own = messages.flatMap((message) => {
    if (message.role === "tool") return message.name === askHumanName && !message.isError ? [message.text] : [];
    if (message.role !== "user" || message.note || hops > 0) return [];
    return message.parts.flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "url" ? [part.url] : [],
    );
  });
  return [...said, ...own];
}
