import type { ModelEvent, ModelReply, ModelRequest } from "../core/model.ts";
import { type Answer, parseChunk, readAnswer, saysSomething } from "./answer.ts";
import { isCompleteObject } from "./arguments.ts";
import { withDistinctIds } from "./call-ids.ts";
import type { Traits } from "./capabilities.ts";
import { classify } from "./classify.ts";
import type { CompletionChunk } from "./completion-chunk.ts";
import type { ModelConfig } from "./config.ts";
import type { Endpoint } from "./endpoint.ts";
import { ModelFailure } from "./model-failure.ts";
import { hideCalls } from "./prompt-calls.ts";
import { asPromptRequest } from "./prompt-tools.ts";
import { usageOf } from "./usage.ts";
import { watch, within } from "./watchdog.ts";
import { chatParams } from "./wire.ts";

/** What every attempt at one model shares. */
export type AttemptScope = { readonly config: ModelConfig; readonly endpoint: Endpoint };

/** How an attempt ended; `cut` when the stream stopped without saying why, and the reply is what had come by then. */
export type AttemptResult = { readonly reply: ModelReply; readonly cut: boolean };

/**
 * Asks once. Throws a ModelFailure, or the signal's reason; however it ends, also by being left early, the connection is closed
 * behind it.
 */
export async function* attempt(
  { config, endpoint }: AttemptScope,
  request: ModelRequest,
  traits: Traits,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, AttemptResult> {
  const closing = new AbortController();
  const guard = (error: unknown) => classify(error, config.apiKey, Date.now());
  const params = chatParams(traits.tools ? request : asPromptRequest(request), config, traits);
  try {
    const opening = endpoint.open(params, AbortSignal.any([signal, closing.signal])).catch((error: unknown) => {
      throw guard(error);
    });
    const source = await within(opening, config.firstDeltaTimeoutMs, signal);
    const deltas = readAnswer(watch(parsed(source, guard), saysSomething, config, signal));
    const names = request.tools.map((tool) => tool.name);
    const answer = yield* traits.tools ? deltas : hideCalls(deltas, names);
    return resultOf(answer, request, config);
  } finally {
    closing.abort();
  }
}

async function* parsed(
  source: AsyncIterable<unknown>,
  guard: (error: unknown) => ModelFailure,
): AsyncGenerator<CompletionChunk> {
  try {
    for await (const raw of source) yield parseChunk(raw);
  } catch (error) {
    throw guard(error);
  }
}

function resultOf(answer: Answer, request: ModelRequest, config: ModelConfig): AttemptResult {
  const cut = answer.finish === undefined;
  if (cut && answer.text === "" && answer.toolCalls.length === 0) {
    throw new ModelFailure("unavailable", "the answer ended before it began");
  }
  const finish = finishOf(answer);
  // A call whose arguments were cut off must not run, nor be mended by guessing.
  const calls = answer.toolCalls.filter((call) => finish !== "length" || isCompleteObject(call.arguments));
  const reply = {
    text: answer.text,
    ...(answer.reasoning === "" ? {} : { reasoning: answer.reasoning }),
    toolCalls: withDistinctIds(calls, request.messages),
    finish,
    usage: usageOf(config, request, answer),
    model: config.name,
  };
  return { reply, cut };
}

function finishOf({ finish, toolCalls }: Answer): ModelReply["finish"] {
  if (finish === undefined || finish === "length") return "length";
  if (finish === "content_filter") return "content-filter";
  // Not every server says `tool_calls` when there are some, and some say it when there are none.
  return toolCalls.length > 0 ? "tool-calls" : "stop";
}
