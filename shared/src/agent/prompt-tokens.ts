import { estimateTokenCount } from "tokenx";
import type { TaskMessage, TaskState } from "./task-state.ts";

/** What an image costs in a prompt, about: providers differ between some hundred and some thousand tokens. */
const imageTokens = 1_000;

/**
 * The size of the task's next prompt: what the provider counted last time, and an estimate for what came after. Computed from
 * recorded values only, so that replay decides alike. `sightTokens` where the next look is already known.
 */
export function promptTokens(task: TaskState, sightTokens = task.sightTokens): number {
  const unmeasured = task.messages.slice(task.measured.messages);
  return unmeasured.reduce((sum, message) => sum + messageTokens(message), task.measured.tokens + sightTokens);
}

/** An estimate for one message. */
export function messageTokens(message: TaskMessage): number {
  const overhead = 4;
  if (message.role === "assistant") {
    const calls = message.toolCalls.reduce((sum, call) => sum + estimateTokenCount(call.name + call.arguments), 0);
    return overhead + estimateTokenCount(message.text) + calls;
  }
  if (message.role !== "user") return overhead + estimateTokenCount(message.text);
  return message.parts.reduce((sum, part) => {
    if (part.type === "text") return sum + estimateTokenCount(part.text);
    if (part.type === "data") return sum + estimateTokenCount(JSON.stringify(part.data));
    return sum + (part.mediaType?.startsWith("image/") ? imageTokens : overhead * 8);
  }, overhead);
}
