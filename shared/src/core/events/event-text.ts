import { type Part, textOf } from "../message.ts";
import type { ReadEvent } from "./events.ts";

/**
 * What an event says in words: a message, a reply, a call with its arguments, a result, an answer.
 * Empty for events without any. Search looks through this, never through an event's own keys.
 */
export function eventText(event: ReadEvent): string {
  switch (event.type) {
    case "message-received":
      return partsWords(event.parts);
    case "model-replied":
      return event.text;
    case "tool-started":
      return `${event.name} ${event.arguments}`;
    case "tool-ended":
      return `${event.name} ${event.text}`;
    case "context-compacted":
      return event.summary;
    case "agent-asked":
      return `${event.agent} ${textOf(event.parts)}`;
    case "agent-answered":
      return event.error?.message ?? "";
    case "question-asked":
      return event.question;
    case "notice-given":
      return event.text;
    case "artifact-added":
      return `${event.name} ${partsWords(event.parts)}`;
    case "run-paused":
    case "run-ended":
      return event.error?.message ?? "";
    case "flow-told":
      return event.note;
    // A run that is found by what it says must not keep the words of a memory that is deleted.
    case "memory-recalled":
    case "message-heard":
    case "step-started":
    case "model-asked":
    case "agent-accepted":
    case "agent-used":
    // It repeats what the other agent's own events say.
    case "agent-progressed":
    case "run-resumed":
    case "unknown":
      return "";
  }
}

/** The texts of parts, and the names of the files among them. */
function partsWords(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : "name" in part ? [part.name] : [])).join("\n");
}

/** Whether a text has all these words, whatever their case. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word.toLowerCase()));
}

/**
 * A pattern of LIKE, with `\` as the escape, for stored events that may say this word: events are
 * stored as JSON.
 */
export function likeWord(word: string): string {
  const inJson = JSON.stringify(word).slice(1, -1);
  return `%${inJson.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`;
}
