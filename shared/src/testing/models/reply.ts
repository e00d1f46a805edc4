import { AppError } from "../../core/errors.ts";
import type { Model, ModelReply, ModelRequest } from "../../core/model.ts";

/**
 * Asks a model and waits for the whole reply. OpenManus's `ask` is this without tools, its
 * `ask_with_images` this with image parts in a user message, and its `ask_tool` this with tools and
 * a tool choice. Rejects as `Model.ask` does.
 */
export async function reply(
  model: Model,
  request: ModelRequest,
  options: { readonly signal: AbortSignal },
): Promise<ModelReply> {
  for await (const event of model.ask(request, options)) {
    if (event.type === "reply") return event.reply;
  }
  throw new AppError("model_unavailable", `Model ${model.name} ended without a reply`);
}
