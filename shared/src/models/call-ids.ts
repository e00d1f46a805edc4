import type { ModelMessage, ToolCall } from "../core/model.ts";

/**
 * The calls with ids that occur once in the conversation: a missing id becomes `call_<n>`, counted over the conversation, and one that
 * was used before gets the number behind it. The same conversation and reply give the same ids.
 */
export function withDistinctIds(calls: readonly ToolCall[], messages: readonly ModelMessage[]): readonly ToolCall[] {
  const earlier = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  const used = new Set(earlier.map((call) => call.id));
  return calls.map((call, index) => {
    let n = earlier.length + index + 1;
    let id = call.id === "" ? `call_${n}` : call.id;
    while (used.has(id)) id = `${call.id === "" ? "call" : call.id}_${n++}`;
    used.add(id);
    return { ...call, id };
  });
}
