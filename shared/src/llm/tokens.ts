import { estimateTokenCount } from "tokenx";
import type { ImagePart, ModelMessage, TextPart, ToolSpec } from "./model.ts";

/** A full-page image at the most common providers; nothing cheaper is assumed. */
const imageTokens = 1100;
/** What a message costs besides its text: role and separators. */
const messageTokens = 4;

/** Tokens a text makes, estimated without any tokenizer. The same text gives the same number, always. */
export function estimateText(text: string): number {
  return estimateTokenCount(text);
}

/**
 * Tokens that messages and tools make as the input of a call, estimated without any tokenizer: deterministic, meant for deciding
 * when a conversation must shrink, never for a bill.
 */
export function estimateTokens(messages: readonly ModelMessage[], tools: readonly ToolSpec[]): number {
  const ofTools = tools.reduce((sum, tool) => sum + estimateText(JSON.stringify(tool)), 0);
  return messages.reduce((sum, message) => sum + messageTokens + estimateMessage(message), ofTools);
}

function estimateMessage(message: ModelMessage): number {
  switch (message.role) {
    case "system":
      return estimateText(message.text);
    case "user":
      return message.parts.reduce((sum, part) => sum + estimatePart(part), 0);
    case "assistant":
      return message.toolCalls.reduce(
        (sum, call) => sum + messageTokens + estimateText(call.name) + estimateText(call.arguments),
        estimateText(message.text),
      );
    case "tool":
      return estimateText(message.text) + (message.images?.length ?? 0) * imageTokens;
  }
}

function estimatePart(part: TextPart | ImagePart): number {
  return part.type === "image" ? imageTokens : estimateText(part.text);
}
