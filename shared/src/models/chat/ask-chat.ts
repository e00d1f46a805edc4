import type { ModelConfig } from "../config.ts";
import type { ModelFailure } from "../model-failure.ts";
import {
  type ChunkUsage,
  type CompletionChunk,
  type ModelAnswer,
  parseChunk,
  readAnswer,
  saysSomething,
} from "./answer.ts";
import { classify } from "./classify.ts";
import { createEndpoint } from "./endpoint.ts";
import type { CountedTokens, Protocol, ProtocolAnswer } from "./protocol.ts";
import { watch, within } from "./watchdog.ts";
import { chatBody, chatParams } from "./wire.ts";

/** OpenAI's chat completions, as every compatible endpoint and Azure speak it. */
export function chatProtocol(config: ModelConfig, fetch: typeof globalThis.fetch): Protocol {
  const endpoint = createEndpoint(config, fetch);
  const guard = (error: unknown) => classify(error, config.apiKey, Date.now());
  // Azure's client reads the deployment from the parameters.
  const write = config.apiType === "azure" ? chatParams : chatBody;
  return {
    async *answer(request, traits, { signal, connection }) {
      const sending = { body: write(request, config, traits), stream: traits.stream };
      const opening = endpoint.open(sending, connection).catch((error: unknown) => {
        throw guard(error);
      });
      const source = await within(opening, config.firstDeltaTimeoutMs, signal);
      return asAnswer(yield* readAnswer(watch(parsed(source, guard), saysSomething, config, signal)));
    },
  };
}

async function* parsed(
  source: AsyncIterable<readonly unknown[]>,
  guard: (error: unknown) => ModelFailure,
): AsyncGenerator<readonly CompletionChunk[]> {
  try {
    for await (const chunks of source) yield chunks.map(parseChunk);
  } catch (error) {
    throw guard(error);
  }
}

function asAnswer({ finish, usage, ...answer }: ModelAnswer): ProtocolAnswer {
  return { ...answer, finish: finishOf(finish), usage: countedIn(usage) };
}

function finishOf(finish: string | undefined): ProtocolAnswer["finish"] {
  if (finish === undefined || finish === "length") return finish;
  return finish === "content_filter" ? "content-filter" : "stop";
}

function countedIn(usage: ChunkUsage | undefined): CountedTokens {
  return {
    input: usage?.prompt_tokens ?? undefined,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? undefined,
    cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens ?? undefined,
    output: usage?.completion_tokens ?? undefined,
  };
}
