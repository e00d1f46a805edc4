import { estimateTokenCount } from "tokenx";
import type { Carried, ImagePart, ImageRule, ModelMessage, TextPart, ToolSpec } from "../core/model.ts";
import { imageTokens, sizeOf } from "./images.ts";

/**
 * Tokens of an image of unknown size or without a rule: a full page at the most common providers.
 */
const usualImage = 1100;
/** Tokens of a message besides its text: role and separators. */
const messageTokens = 4;

/** Estimated tokens of a text, without a tokenizer. Deterministic. */
export function estimateText(text: string): number {
  return estimateTokenCount(text);
}

/**
 * Estimated input tokens of messages and tools, without a tokenizer. Deterministic; used to decide
 * when a conversation must shrink, never for billing. Images count by their size and the provider's
 * rule, if given.
 */
export function estimateTokens(
  messages: readonly ModelMessage[],
  tools: readonly ToolSpec[],
  imageRule?: ImageRule,
): number {
  const ofTools = tools.reduce((sum, tool) => sum + estimateText(JSON.stringify(tool)), 0);
  return messages.reduce((sum, message) => sum + messageTokens + estimateOnce(message, imageRule), ofTools);
}

const estimated = new WeakMap<ModelMessage, { readonly rule: ImageRule | undefined; readonly tokens: number }>();

/** Estimated once for each message: a conversation asks about nearly all of them again. */
function estimateOnce(message: ModelMessage, rule: ImageRule | undefined): number {
  const known = estimated.get(message);
  if (known?.rule === rule && known !== undefined) return known.tokens;
  const tokens = estimateMessage(message, rule);
  estimated.set(message, { rule, tokens });
  return tokens;
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
        estimateText(message.text) + estimateCarried(message.carried),
      );
    case "tool":
      return (message.images ?? []).reduce((sum, image) => sum + estimatePart(image, rule), estimateText(message.text));
  }
}

/** Estimated tokens of thinking that goes back with an answer; signatures are not for the model. */
export function estimateCarried(carried: Carried | undefined): number {
  const parts = (carried?.parts ?? []) as readonly { readonly text?: string }[];
  return parts.reduce((sum, { text = "" }) => sum + estimateText(text), 0);
}

function estimatePart(part: TextPart | ImagePart, rule: ImageRule | undefined): number {
  if (part.type === "text") return estimateText(part.text);
  const size = rule && sizeOf(part);
  return rule === undefined || size === undefined ? usualImage : imageTokens(size, rule);
}
