import { estimateTokenCount } from "tokenx";
import type { ImagePart, ImageRule, ModelMessage, TextPart, ToolSpec } from "../core/model.ts";
import { imageTokens, sizeOf } from "./images.ts";

/**
 * An image whose size cannot be read, or of a model whose rule is not asked for: a full page at the
 * most common providers.
 */
const usualImage = 1100;
/** What a message costs besides its text: role and separators. */
const messageTokens = 4;

/**
 * Tokens a text makes, estimated without any tokenizer. The same text gives the same number,
 * always.
 */
export function estimateText(text: string): number {
  return estimateTokenCount(text);
}

/**
 * Tokens that messages and tools make as the input of a call, estimated without any tokenizer:
 * deterministic, meant for deciding when a conversation must shrink, never for a bill. Images count
 * by their size and the rule of the model's provider, where that is given.
 */
export function estimateTokens(
  messages: readonly ModelMessage[],
  tools: readonly ToolSpec[],
  imageRule?: ImageRule,
): number {
  const ofTools = tools.reduce((sum, tool) => sum + estimateText(JSON.stringify(tool)), 0);
  return messages.reduce((sum, message) => sum + messageTokens + estimateMessage(message, imageRule), ofTools);
}

function estimateMessage(message: ModelMessage, rule: ImageRule | undefined): number {
  switch (message.role) {
    case "system":
      return estimateText(message.text);
    case "user":
      return message.parts.reduce((sum, part) => sum + estimatePart(part, rule), 0);
    case "assistant":
      return message.toolCalls.reduce(
        (sum, call) => sum + messageTokens + estimateText(call.name) + estimateText(call.arguments),
        estimateText(message.text),
      );
    case "tool":
      return (message.images ?? []).reduce((sum, image) => sum + estimatePart(image, rule), estimateText(message.text));
  }
}

function estimatePart(part: TextPart | ImagePart, rule: ImageRule | undefined): number {
  if (part.type === "text") return estimateText(part.text);
  const size = rule && sizeOf(part);
  return rule === undefined || size === undefined ? usualImage : imageTokens(size, rule);
}
