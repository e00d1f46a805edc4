import { askHumanName } from "../tools/human/ask-human.ts";
import type { TaskMessage } from "./task-state.ts";

/** What the user wrote in a conversation, in messages and as answers to questions, oldest first. Nothing that a model, a tool or a page said. */
export function userWords(messages: readonly TaskMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role === "tool") return message.name === askHumanName && !message.isError ? [message.text] : [];
    if (message.role !== "user" || message.note) return [];
    return message.parts.flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "url" ? [part.url] : [],
    );
  });
}
