import * as z from "zod";

const tokens = z.int().min(1);

const priceSchema = z.strictObject({
  inputPerMillion: z.number().min(0),
  /** If left out, cached input costs the same as input. */
  cachedInputPerMillion: z.number().min(0).optional(),
  /** If left out, input that is written to a cache costs the same as input. */
  cacheWritePerMillion: z.number().min(0).optional(),
  outputPerMillion: z.number().min(0),
});

const capabilitiesSchema = z.strictObject({
  tools: z.boolean().optional(),
  parallelToolCalls: z.boolean().optional(),
  vision: z.boolean().optional(),
  contextWindow: tokens.optional(),
  maxOutputTokens: tokens.optional(),
  temperature: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  streamUsage: z.boolean().optional(),
  maxTokensParameter: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
});

/** One model at one endpoint: how to reach it, what it can do, what it costs, how long to wait. */
export const modelConfigSchema = z.strictObject({
  /** The model's name at its provider; on Azure the deployment's. */
  name: z.string().min(1),
  /** The name of its provider, for people. Defaults to the host of `baseUrl`. */
  provider: z.string().min(1).optional(),
  /** Up to and including `/v1` or its equivalent; on Azure the resource's address. */
  baseUrl: z.url({ protocol: /^https?$/ }).default("https://api.openai.com/v1"),
  /** Omitted for servers that need none. */
  apiKey: z.string().min(1).optional(),
  /** The protocol: OpenAI's chat completions (on Azure too) or Responses, or a provider's own. */
  apiType: z.enum(["openai", "azure", "responses", "anthropic", "google", "aws"]).default("openai"),
  /** AWS's region. */
  region: z.string().min(1).optional(),
  /** Azure's `api-version`. */
  apiVersion: z.string().min(1).default("2024-10-21"),
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: tokens.optional(),
  reasoningEffort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
  /** How closely a model looks at images: `low` shrinks them for every provider. */
  imageDetail: z.enum(["low", "high", "auto"]).default("auto"),
  /** Overrides the defaults of `capabilities.ts`. */
  capabilities: capabilitiesSchema.default({}),
  price: priceSchema.optional(),
  /** Takes over when this model cannot be reached or is out of quota, after its retries. */
  get fallback() {
    return modelConfigSchema.optional();
  },
  /** Calls in flight at the same time; 8 in each process if left out. */
  concurrency: z.int().min(1).optional(),
  /** Input and output together. If left out, we impose no limit. */
  tokensPerMinute: tokens.optional(),
  /** Silence allowed before the first delta of an answer. */
  firstDeltaTimeoutMs: z.int().min(1).default(300_000),
  /** Silence allowed between two deltas of an answer. */
  idleTimeoutMs: z.int().min(1).default(60_000),
  /** Attempts after the first one. */
  maxRetries: z.int().min(0).max(20).default(4),
});

/**
 * One model at one endpoint: how to reach it, what it can do, what it costs, how long to wait. Only
 * `name` is required.
 */
export type ModelSettings = z.input<typeof modelConfigSchema>;

/** A model's settings with their defaults filled in. */
export type ModelConfig = z.output<typeof modelConfigSchema>;
