import * as z from "zod";
import { lazily } from "../core/async/lazy.ts";
import { AppError, messageOf } from "../core/errors.ts";
import type { Usage } from "../core/model.ts";
import { wellFormed } from "../core/text/well-formed.ts";
import { createClient } from "./chat/endpoint.ts";
import type { ModelConfig } from "./config.ts";
import { costOf } from "./price.ts";
import { estimateText } from "./tokens.ts";

/** Turns texts into vectors: the closer two vectors, the closer what the texts say. */
export interface Embedder {
  readonly model: string;
  /** One vector of length 1 for each text, and what it used. Rejects with `model_unavailable`. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[]; readonly usage: Usage }>;
}

/** How many texts one request carries. */
const batch = 64;

const answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.int(), embedding: z.array(z.number()).min(1).max(100_000) })),
  usage: z.looseObject({ prompt_tokens: z.int().min(0) }).optional(),
});

/** The model at the `/embeddings` of an OpenAI-compatible endpoint. Nothing is retried. */
export function createEmbedder(config: ModelConfig, fetch = globalThis.fetch): Embedder {
  const client = lazily(() => createClient(config, fetch));
  const one = async (texts: readonly string[], signal: AbortSignal) => {
    const body = { model: config.name, input: wellFormed(texts), encoding_format: "float" };
    const parsed = answer.safeParse(await (await client.get()).post("/embeddings", { body, signal }));
    if (!parsed.success || parsed.data.data.length !== texts.length) throw new Error("its answer has another form");
    const vectors = parsed.data.data
      .toSorted((one, other) => one.index - other.index)
      .map(({ embedding }) => unit(embedding));
    return { vectors, tokens: parsed.data.usage?.prompt_tokens };
  };
  return {
    model: config.name,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      let tokens = 0;
      let isTold = true;
      for (let at = 0; at < texts.length; at += batch) {
        const some = texts.slice(at, at + batch);
        const made = await one(some, signal).catch((cause) => {
          signal.throwIfAborted();
          const why = messageOf(cause);
          throw new AppError("model_unavailable", `The embeddings of ${config.name} failed: ${why}`, { cause });
        });
        vectors.push(...made.vectors);
        isTold &&= made.tokens !== undefined;
        tokens += made.tokens ?? some.reduce((sum, text) => sum + estimateText(text), 0);
      }
      const counted = { inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0 };
      return {
        vectors,
        usage: { ...counted, costUsd: costOf(counted, config), source: isTold ? "provider" : "estimate" },
      };
    },
  };
}

/** How close two of them are, from -1 to 1; 0 for those of different models. */
export function closeness(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.sqrt(numbers.reduce((sum, each) => sum + each * each, 0));
  return Float32Array.from(numbers, (each) => (length === 0 ? 0 : each / length));
}
