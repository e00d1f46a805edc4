import { estimateTokenCount } from "tokenx";
import type { ChatRequest } from "../../models/chat/chat-protocol.ts";
import type { ChatExchange } from "../../models/chat/chat-server.ts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "./scripted-model.ts";

/** A scripted model that keeps a window, as llama.cpp does. */
export type SmallModel = ScriptedModel & {
  /** The tokens of each request, in order. */
  readonly sizes: readonly number[];
  /** How many requests were refused for their size. */
  refused(): number;
};

/** Estimated tokens of what a request says and offers. */
function sizeOf({ body }: Pick<ChatExchange, "body">): number {
  return estimateTokenCount(JSON.stringify([body.messages, body.tools ?? []]));
}

/**
 * Starts a scripted model that refuses what is longer than its window, in llama.cpp's words, and
 * does not count it as a request of the script. The caller closes it.
 */
export async function startSmallModel(
  window: number,
  script: (request: ChatRequest, n: number) => ScriptedReply,
): Promise<SmallModel> {
  const sizes: number[] = [];
  let refused = 0;
  const model = await startScriptedModel((body, n): ScriptedReply => {
    const size = sizeOf({ body });
    sizes.push(size);
    if (size <= window) return script(body, n - refused);
    refused += 1;
    const message = `request (${size} tokens) exceeds the available context size (${window} tokens), try increasing it`;
    return { status: 400, error: { message, type: "exceed_context_size_error", n_prompt_tokens: size, n_ctx: window } };
  });
  return { ...model, sizes, refused: () => refused };
}
