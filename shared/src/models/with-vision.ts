import type { Model, ModelMessage, ModelRequest } from "../core/model.ts";

/**
 * A model that takes text only, with another one that sees for it: a turn whose newest messages
 * show an image is answered by the second, all others by the first. What the second says of an
 * image stays in the conversation, for the first to read. A model that can see is returned as it
 * is.
 */
export function withVision(model: Model, visionModel: Model | undefined): Model {
  if (visionModel === undefined || model.capabilities.vision || !visionModel.capabilities.vision) return model;
  const { capabilities } = model;
  const contextWindow = Math.min(capabilities.contextWindow, visionModel.capabilities.contextWindow);
  const maxOutputTokens = Math.min(capabilities.maxOutputTokens, visionModel.capabilities.maxOutputTokens);
  return {
    ...model,
    capabilities: { ...capabilities, vision: true, contextWindow, maxOutputTokens },
    imageRule: visionModel.imageRule,
    ask: (request, options) => (showsImages(request) ? visionModel : model).ask(request, options),
  };
}

/** Whether anything since the last answer is an image. */
function showsImages({ messages }: ModelRequest): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(last + 1).some(hasImage);
}

function hasImage(message: ModelMessage): boolean {
  if (message.role === "user") return message.parts.some(({ type }) => type === "image");
  return message.role === "tool" && message.images !== undefined && message.images.length > 0;
}
