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

/** The error of a request that is longer than a window, in llama.cpp's words. */
function tooLong(size: number, window: number) {
  const message = `request (${size} tokens) exceeds the available context size (${window} tokens), try increasing it`;
  return { message, type: "exceed_context_size_error", n_prompt_tokens: size, n_ctx: window };
}

/**
 * Keeps a window in front of a model that keeps none: what is longer is refused. The caller closes
 * it.
 */
export function keepWindow(model: string, window: number) {
  const sizes: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const url = `${new URL(model).origin}${pathname}`;
      if (request.method !== "POST") return fetch(url, { headers: request.headers });
      const text = await request.text();
      const size = sizeOf({ body: JSON.parse(text) });
      sizes.push(size);
      if (size > window) return Response.json({ error: tooLong(size, window) }, { status: 400 });
      return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: text });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}${new URL(model).pathname}`,
    sizes,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
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
    return { status: 400, error: tooLong(size, window) };
  });
  return { ...model, sizes, refused: () => refused };
}
