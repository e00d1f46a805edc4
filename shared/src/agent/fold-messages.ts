import { compacted } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { TaskMessage } from "./task-state.ts";

/**
 * The conversation as the events of one task tell it, after what came before it: how a later task of the same context knows its
 * history. The same messages the task itself held: an answer to a question is in the result of the call that asked.
 */
export function foldMessages(earlier: readonly TaskMessage[], events: readonly AgentEvent[]): TaskMessage[] {
  let messages = [...earlier];
  let goal: TaskMessage | undefined;
  let asked = false;
  for (const event of events) {
    if (event.type === "question-asked") asked = true;
    if (event.type === "message-received" && asked) {
      asked = false;
      continue;
    }
    if (event.type === "context-compacted" && goal !== undefined) {
      messages = compacted(messages, goal, event.summary, event.kept);
      continue;
    }
    const message = messageOf(event);
    if (message === undefined) continue;
    messages.push(message);
    goal ??= message;
  }
  return messages;
}

function messageOf(event: AgentEvent): TaskMessage | undefined {
  switch (event.type) {
    case "message-received":
      return { role: "user", parts: event.parts };
    case "model-replied":
      return { role: "assistant", text: event.text, toolCalls: event.toolCalls };
    case "tool-ended": {
      const { callId, name, text, isError, images } = event;
      return { role: "tool", callId, name, text, isError, ...(images && { images }) };
    }
    default:
      return undefined;
  }
}
