import { estimateTokenCount } from "tokenx";
import { estimateCarried } from "../../models/tokens.ts";
import type { AgentState, OpenView, TaskMessage } from "../task/agent-state.ts";

/**
 * Estimated tokens of an image until the provider has counted it; the call itself uses the image's
 * size.
 */
const imageTokens = 1_000;

/**
 * The size of the task's next prompt: what the provider counted last time, plus an estimate for
 * what came after. Computed from recorded values only, so that replay decides the same way. The
 * next tail is assumed to be as large as the last.
 */
export function promptTokens(task: AgentState): number {
  const unmeasured = task.messages.slice(task.measured.messages);
  return unmeasured.reduce((sum, message) => sum + messageTokens(message), task.measured.tokens + task.tailTokens);
}

/** Estimated tokens of a message that shows something, with its images. */
export function viewTokens(message: OpenView["message"]): number {
  return messageTokens(message) + imageTokens * (message.images?.length ?? 0);
}

const estimated = new WeakMap<TaskMessage, number>();

/** Estimated tokens of one message; computed once for each. */
export function messageTokens(message: TaskMessage): number {
  const known = estimated.get(message);
  if (known !== undefined) return known;
  const tokens = estimateMessage(message);
  estimated.set(message, tokens);
  return tokens;
}

function estimateMessage(message: TaskMessage): number {
  const overhead = 4;
  if (message.role === "assistant") {
    const calls = message.toolCalls.reduce((sum, call) => sum + estimateTokenCount(call.name + call.arguments), 0);
    return overhead + estimateTokenCount(message.text) + calls + estimateCarried(message.carried);
  }
  if (message.role !== "user") return overhead + estimateTokenCount(message.text);
  return message.parts.reduce((sum, part) => {
    if (part.type === "text") return sum + estimateTokenCount(part.text);
    if (part.type === "data") return sum + estimateTokenCount(JSON.stringify(part.data));
    return sum + (part.mediaType?.startsWith("image/") ? imageTokens : overhead * 8);
  }, overhead);
}
