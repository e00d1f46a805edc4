import type { ModelMessage } from "../../core/model.ts";
import type { AgentState } from "../task/agent-state.ts";
import { type ConversionOptions, extendModelMessages } from "./to-model-messages.ts";

/**
 * The conversation as the model reads it. Only what came since the last call is converted, so that
 * a turn late in a long task costs what an early one does; a conversation that was folded or
 * compacted is converted anew.
 */
export async function promptOf(
  task: Pick<AgentState, "messages" | "prompt">,
  options: ConversionOptions,
): Promise<readonly ModelMessage[]> {
  const { messages, prompt } = task;
  if (prompt.of !== messages) Object.assign(prompt, { of: messages, count: 0, messages: [] });
  const later = messages.slice(prompt.count);
  prompt.count = messages.length;
  await extendModelMessages(prompt.messages, later, options);
  return prompt.messages;
}
