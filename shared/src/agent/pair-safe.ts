import type { TaskMessage } from "./task-state.ts";

/**
 * The same conversation in a shape every provider accepts: each call has exactly one result, right after the message that asked
 * for it, and no result stands without its call. A call that has none (it was canceled, or its result was cut away) gets one that says so.
 */
export function pairSafe(messages: readonly TaskMessage[]): TaskMessage[] {
  const safe: TaskMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === "tool") continue;
    safe.push(message);
    if (message.role !== "assistant" || message.toolCalls.length === 0) continue;
    const results = resultsAfter(messages, at);
    for (const call of message.toolCalls) {
      const missing = {
        role: "tool",
        callId: call.id,
        name: call.name,
        text: "(no result: the call was canceled)",
        isError: true,
      } as const;
      safe.push(results.get(call.id) ?? missing);
    }
  }
  return safe;
}

function resultsAfter(messages: readonly TaskMessage[], at: number): Map<string, TaskMessage> {
  const results = new Map<string, TaskMessage>();
  for (let next = at + 1; next < messages.length; next++) {
    const message = messages[next];
    if (message === undefined || message.role === "assistant") break;
    if (message.role === "tool" && !results.has(message.callId)) results.set(message.callId, message);
  }
  return results;
}
