import { AppError } from "../../core/errors.ts";
import { type ModelConfig, modelConfigSchema } from "../../models/config.ts";
import { type LlmProfile, type LlmSection, llmSection } from "./llm-section.ts";

/** The model used if a key or an endpoint is given but no model. */
const unnamedModel = "gpt-5-mini";

/**
 * The model of `[llm]`; undefined if it configures none. Throws `config_invalid` if the model's
 * endpoint is unknown.
 */
export function defaultModel(llm: LlmSection): ModelConfig | undefined {
  return modelOf(baseProfile(llm), llm, []);
}

/** The `[llm.NAME]` tables that describe a model, each over `[llm]`. */
export function namedModels(llm: LlmSection): Record<string, ModelConfig> {
  const models: Record<string, ModelConfig> = {};
  for (const name of Object.keys(llm).filter(isTableName)) {
    const model = modelNamed(name, llm);
    if (model !== undefined) models[name] = model;
  }
  return models;
}

/** The model with this name: a table's name, or a model's name at the endpoint of `[llm]`. */
function modelNamed(wanted: string, llm: LlmSection, path: readonly string[] = []): ModelConfig | undefined {
  if (path.includes(wanted))
    throw new AppError("config_invalid", `[llm] fallback goes in a circle: ${[...path, wanted].join(" → ")}.`);
  const table = isTableName(wanted) && Object.hasOwn(llm, wanted) ? llm[wanted] : { model: wanted };
  // A table's fallback is its own: one over [llm] would otherwise fall back to itself.
  const { fallback: _, ...base } = baseProfile(llm);
  return modelOf(over(base, table as LlmProfile), llm, [...path, wanted]);
}

/**
 * A table merged over `[llm]`. At another endpoint it does not inherit the first endpoint's key,
 * prices and abilities.
 */
function over(base: LlmProfile, table: LlmProfile): LlmProfile {
  const elsewhere = table.base_url !== undefined && table.base_url !== base.base_url;
  const { api_key: _, api_key_env: _____, price: __, capabilities: ___, provider: ____, ...rest } = base;
  return { ...(elsewhere ? rest : base), ...table };
}

/** The named model, or the default if none is named. */
export function modelFor(wanted: string | undefined, llm: LlmSection): ModelConfig | undefined {
  return wanted === undefined ? defaultModel(llm) : modelNamed(wanted, llm);
}

function modelOf(profile: LlmProfile, llm: LlmSection, path: readonly string[]): ModelConfig | undefined {
  const reachable = profile.api_key !== undefined || profile.base_url !== undefined;
  if (profile.model === undefined && !reachable) return undefined;
  if (!reachable)
    throw new AppError(
      "config_invalid",
      `The model ${profile.model} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that wants no key.`,
    );
  const { capabilities, price } = profile;
  const config = {
    name: profile.model ?? unnamedModel,
    provider: profile.provider,
    baseUrl: profile.base_url,
    apiKey: profile.api_key,
    apiType: profile.api_type === "azure" ? "azure" : "openai",
    apiVersion: profile.api_version,
    temperature: profile.temperature,
    maxOutputTokens: profile.max_tokens,
    reasoningEffort: profile.reasoning_effort,
    capabilities: capabilities && {
      tools: capabilities.tools,
      parallelToolCalls: capabilities.parallel_tool_calls,
      vision: capabilities.vision,
      contextWindow: capabilities.context_window,
      maxOutputTokens: capabilities.max_output_tokens,
      temperature: capabilities.temperature,
      streamUsage: capabilities.stream_usage,
      maxTokensParameter: capabilities.max_tokens_parameter,
    },
    price: price && {
      inputPerMillion: price.input_per_million,
      cachedInputPerMillion: price.cached_input_per_million,
      outputPerMillion: price.output_per_million,
    },
    fallback: profile.fallback === undefined ? undefined : modelNamed(profile.fallback, llm, path),
    concurrency: profile.concurrency,
    tokensPerMinute: profile.tokens_per_minute,
    firstDeltaTimeoutMs: milliseconds(profile.first_delta_timeout),
    idleTimeoutMs: milliseconds(profile.idle_timeout),
    maxRetries: profile.max_retries,
  };
  return modelConfigSchema.parse(config);
}

/** `[llm]` without its named tables. */
function baseProfile(llm: LlmSection): LlmProfile {
  return Object.fromEntries(Object.entries(llm).filter(([key]) => !isTableName(key)));
}

/** Whether a key of `[llm]` is a user-chosen name, and so a table. */
export function isTableName(key: string): boolean {
  return !Object.hasOwn(llmSection.shape, key);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
