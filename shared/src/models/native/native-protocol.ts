import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { lazily } from "../../core/async/lazy.ts";
import type { ModelRequest } from "../../core/model.ts";
import { wellFormed } from "../../core/text/well-formed.ts";
import type { Traits } from "../capabilities.ts";
import type { Protocol, ProtocolAnswer } from "../chat/protocol.ts";
import { watch, within } from "../chat/watchdog.ts";
import type { ModelConfig } from "../config.ts";
import type { ModelFailure } from "../model-failure.ts";
import { classifyNative } from "./classify-native.ts";
import { type NativeType, openLanguageModel } from "./language-model.ts";
import { readParts, saysSomething } from "./read-parts.ts";
import { toPrompt } from "./to-prompt.ts";

/** A provider's own protocol, by its SDK, which is loaded with the first question. */
export function nativeProtocol(apiType: NativeType, config: ModelConfig, fetch: typeof globalThis.fetch): Protocol {
  const of = `${apiType} ${config.name}`;
  const guard = (error: unknown) => classifyNative(error, config.apiKey, Date.now());
  const calling = lazily(() => openLanguageModel(apiType, config, fetch, true));
  const silent = lazily(() => openLanguageModel(apiType, config, fetch, false));
  return {
    async *answer(request, traits, { signal, connection }) {
      const { model, identify } = await (request.toolChoice === "none" ? silent : calling).get();
      if (identify !== undefined) await within(identify(), config.firstDeltaTimeoutMs, signal);
      const options = { ...callOptions(request, { apiType, config, traits, of }), abortSignal: connection };
      const opening = Promise.resolve(model.doStream(options)).catch((error: unknown) => {
        throw guard(error);
      });
      const { stream } = await within(opening, config.firstDeltaTimeoutMs, signal);
      const answer = yield* guarded(readParts(watch(partsOf(stream, guard), saysSomething, config, signal), of), guard);
      return request.toolChoice === "none" ? withoutCalls(answer) : answer;
    },
  };
}

async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  guard: (error: unknown) => ModelFailure,
): AsyncGenerator<LanguageModelV4StreamPart> {
  try {
    for await (const part of stream) yield part;
  } catch (error) {
    throw guard(error);
  }
}

/** An error that the provider sends as part of its answer. */
async function* guarded<Piece, Answer>(
  source: AsyncGenerator<Piece, Answer>,
  guard: (error: unknown) => ModelFailure,
): AsyncGenerator<Piece, Answer> {
  try {
    return yield* source;
  } catch (error) {
    throw error instanceof Error && error.name === "AbortError" ? error : guard(error);
  }
}

/** Drops the calls of an answer that must have none, since not every protocol can forbid them. */
function withoutCalls({ carried: _, ...answer }: ProtocolAnswer): ProtocolAnswer {
  return { ...answer, toolCalls: [] };
}

type CallStyle = {
  readonly apiType: NativeType;
  readonly config: ModelConfig;
  readonly traits: Traits;
  readonly of: string;
};

function callOptions(request: ModelRequest, { apiType, config, traits, of }: CallStyle): LanguageModelV4CallOptions {
  const temperature = request.temperature ?? config.temperature;
  const { reasoningEffort: effort } = config;
  const thinks = effort !== undefined && mayThink(request, apiType, of);
  const wantsForm = request.answerSchema !== undefined && traits.answerSchema && request.tools.length === 0;
  return {
    prompt: toPrompt(request, { ...traits, of }),
    maxOutputTokens: request.maxOutputTokens ?? config.maxOutputTokens ?? traits.maxOutputTokens,
    ...(temperature !== undefined && traits.temperature && { temperature }),
    ...(thinks && { reasoning: effort === "max" ? ("xhigh" as const) : effort }),
    ...toolOptions(request, apiType, traits),
    ...(wantsForm && {
      responseFormat: { type: "json" as const, name: "answer", schema: wellFormed(request.answerSchema as object) },
    }),
    providerOptions: providerOptions(traits, { apiType, thinks: thinks && effort !== "none" }),
    // See `refusalIn`.
    ...(apiType === "responses" && { includeRawChunks: true }),
  };
}

/**
 * Claude refuses to think in the middle of a turn that began without its signed thinking, as after
 * another model's answer.
 */
function mayThink({ messages }: ModelRequest, apiType: NativeType, of: string): boolean {
  if (apiType !== "anthropic" && apiType !== "aws") return true;
  const last = messages.findLast(({ role }) => role === "assistant");
  if (last?.role !== "assistant" || last.toolCalls.length === 0) return true;
  return last.carried?.of === of;
}

function toolOptions(
  { tools, toolChoice }: ModelRequest,
  apiType: NativeType,
  traits: Traits,
): Pick<LanguageModelV4CallOptions, "tools" | "toolChoice"> {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, inputSchema: { $schema: _, ...inputSchema } }) =>
      wellFormed({ type: "function", name, description, inputSchema }),
    ),
    toolChoice: choiceFor(toolChoice, apiType, traits),
  };
}

function choiceFor(
  choice: ModelRequest["toolChoice"],
  apiType: NativeType,
  traits: Traits,
): NonNullable<LanguageModelV4CallOptions["toolChoice"]> {
  // Without its tools, these refuse a conversation that has calls, and find nothing in their cache.
  if (choice === "none") return { type: apiType === "anthropic" || apiType === "aws" ? "auto" : "none" };
  if (!traits.forcedTools) return { type: "auto" };
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

type ProviderOptions = NonNullable<LanguageModelV4CallOptions["providerOptions"]>;

function providerOptions(
  { parallelToolCalls }: Traits,
  { apiType, thinks }: { readonly apiType: NativeType; readonly thinks: boolean },
): ProviderOptions {
  switch (apiType) {
    case "anthropic":
      return { anthropic: parallelToolCalls ? {} : { disableParallelToolUse: true } };
    case "google":
      return { google: thinks ? { thinkingConfig: { includeThoughts: true } } : {} };
    case "responses":
      // Nothing is left at the provider: what it wants back is in the journal.
      return { openai: { store: false, ...(parallelToolCalls ? {} : { parallelToolCalls: false }) } };
    case "aws":
      return {};
  }
}
