import type { ReadEvent, RunEnded } from "../core/events.ts";
import type { Part } from "../core/message.ts";
import { compacted } from "./compaction.ts";
import type { TaskMessage } from "./task-state.ts";

/**
 * The conversation as the events of one task tell it, after what came before it: how a later task of the same context knows its
 * history. The same messages the task itself held (an answer to a question is in the result of the call that asked), then what nobody
 * heard any more and, unless the task completed, how it ended.
 */
export function foldMessages(earlier: readonly TaskMessage[], events: readonly ReadEvent[]): TaskMessage[] {
  let messages = [...earlier];
  let goal: TaskMessage | undefined;
  const unheard = new Map<string, readonly Part[]>();
  for (const event of events) {
    if (event.type === "message-received") unheard.set(event.messageId, event.parts);
    else if (event.type === "context-compacted" && goal !== undefined) {
      messages = compacted(messages, goal, event);
    } else if (event.type === "run-ended") {
      messages.push(...[...unheard.values()].map(said), ...ending(event));
    } else {
      const message = messageOf(event, unheard);
      if (event.type === "message-heard") unheard.delete(event.messageId);
      if (message === undefined) continue;
      messages.push(message);
      goal ??= message;
    }
  }
  return messages;
}

function messageOf(event: ReadEvent, unheard: ReadonlyMap<string, readonly Part[]>): TaskMessage | undefined {
  switch (event.type) {
    case "message-heard":
      return event.as === "answer" ? undefined : said(event.parts ?? unheard.get(event.messageId) ?? []);
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

function said(parts: readonly Part[]) {
  return { role: "user", parts } as const;
}

/** Without a word about its end, what was asked in a canceled or failed task would still read as asked for. */
function ending({ status, error }: RunEnded): TaskMessage[] {
  if (status === "completed") return [];
  const how = status === "canceled" ? "was canceled" : `failed: ${error?.message ?? "no reason is known"}`;
  return [{ ...said([{ type: "text", text: `[The task above ended here; it ${how}]` }]), note: true }];
}
