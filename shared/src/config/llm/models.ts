import { AppError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { longestPrefix, plainName } from "../../models/capabilities.ts";
import { type ModelConfig, modelConfigSchema } from "../../models/config.ts";
import { type FamilyTable, type LlmProfile, type LlmSection, llmSection } from "../sections/llm-section.ts";
import { apiTypeOf, modelAddress } from "./api-type.ts";

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

/** The tables that are used by their names, for a part of the work. */
const roleNames = ["vision", "summary", "extract", "planner"] as const;

/** The models that settings name for parts of the work. */
export type RoleConfigs = Readonly<Partial<Record<(typeof roleNames)[number], ModelConfig>>>;

/**
 * The models of `[llm.vision]`, `[llm.summary]`, `[llm.extract]` and `[llm.planner]`, where they
 * are set.
 */
export function roleModels(llm: LlmSection): RoleConfigs {
  const named = roleNames.filter((role) => Object.hasOwn(llm, role));
  return Object.fromEntries(named.map((role) => [role, modelNamed(role, llm)]));
}

/** The model with this name: a table's name, or a model's name at the endpoint of `[llm]`. */
function modelNamed(wanted: string, llm: LlmSection, path: readonly string[] = []): ModelConfig | undefined {
  if (path.includes(wanted))
    throw new AppError("config_invalid", `[llm] fallback goes in a circle: ${[...path, wanted].join(" → ")}.`);
  const isTable = isTableName(wanted) && Object.hasOwn(llm, wanted);
  const table = (isTable ? llm[wanted] : { model: wanted }) as LlmProfile;
  // A table's fallback is its own: one over [llm] would otherwise fall back to itself.
  const { fallback: _, ...base } = baseProfile(llm);
  const whole = over(base, table);
  // A model that is named for images can see.
  const sees = isTable && wanted === "vision" ? { capabilities: { vision: true, ...table.capabilities } } : {};
  return modelOf({ ...whole, ...sees }, llm, [...path, wanted]);
}

/**
 * A table merged over `[llm]`. At another endpoint, or by another provider's protocol, it inherits
 * nothing that belongs to the first: neither key, prices, abilities nor address.
 */
function over(base: LlmProfile, table: LlmProfile): LlmProfile {
  const isMoved = table.base_url !== undefined && table.base_url !== base.base_url;
  const speaks = table.api_type === undefined ? undefined : apiTypeOf({ ...base, ...table });
  const isOther = speaks !== undefined && speaks !== apiTypeOf(base) && !(isChat(speaks) && isChat(apiTypeOf(base)));
  if (!isMoved && !isOther) return { ...base, ...table };
  const { api_key, api_key_env, price, capabilities, provider, ...rest } = base;
  const { base_url: address, api_type: protocol, api_version: version, region, ...own } = rest;
  const there = isOther ? {} : isChat(apiTypeOf(base)) ? { base_url: address, api_type: protocol } : {};
  return { ...own, ...(isOther ? {} : { api_version: version, region }), ...there, ...table };
}

/** Whether it is OpenAI's chat completions, on Azure or elsewhere. */
function isChat(type: ModelConfig["apiType"]): boolean {
  return type === "openai" || type === "azure";
}

/** The named model, or the default if none is named. */
export function modelFor(wanted: string | undefined, llm: LlmSection): ModelConfig | undefined {
  return wanted === undefined ? defaultModel(llm) : modelNamed(wanted, llm);
}

function modelOf(profile: LlmProfile, llm: LlmSection, path: readonly string[]): ModelConfig | undefined {
  const { api_key: apiKey, base_url: address, region } = profile;
  const reachable = apiKey !== undefined || address !== undefined || region !== undefined;
  if (profile.model === undefined && !reachable) return undefined;
  if (!reachable)
    throw new AppError(
      "config_invalid",
      `The model ${profile.model} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that wants no key.`,
    );
  const { model: name = unnamedModel } = profile;
  const place = modelAddress(profile);
  const { price: familyPrice, ...familyCan } = familyOf(name, llm);
  const price = profile.price ?? familyPrice;
  return modelConfigSchema.parse({
    ...place,
    name,
    provider: profile.provider,
    apiKey,
    apiVersion: profile.api_version,
    temperature: profile.temperature,
    maxOutputTokens: profile.max_tokens,
    reasoningEffort: profile.reasoning_effort,
    imageDetail: profile.image_detail,
    capabilities: { ...abilitiesOf(familyCan), ...abilitiesOf(profile.capabilities ?? {}) },
    price: price && {
      inputPerMillion: price.input_per_million,
      cachedInputPerMillion: price.cached_input_per_million,
      cacheWritePerMillion: price.cache_write_per_million,
      outputPerMillion: price.output_per_million,
    },
    fallback: profile.fallback === undefined ? undefined : modelNamed(profile.fallback, llm, path),
    concurrency: profile.concurrency,
    tokensPerMinute: profile.tokens_per_minute,
    firstDeltaTimeoutMs: milliseconds(profile.first_delta_timeout),
    idleTimeoutMs: milliseconds(profile.idle_timeout),
    maxRetries: profile.max_retries,
  });
}

/** What the settings say of the family of a name. */
function familyOf(name: string, { families = {} }: LlmSection): FamilyTable {
  const family = longestPrefix(plainName(name), Object.keys(families));
  return family === undefined ? {} : (families[family] as FamilyTable);
}

function abilitiesOf(table: NonNullable<LlmProfile["capabilities"]>): Partial<ModelConfig["capabilities"]> {
  return defined({
    tools: table.tools,
    parallelToolCalls: table.parallel_tool_calls,
    vision: table.vision,
    contextWindow: table.context_window,
    maxOutputTokens: table.max_output_tokens,
    temperature: table.temperature,
    reasoning: table.reasoning,
    streamUsage: table.stream_usage,
    maxTokensParameter: table.max_tokens_parameter,
  });
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
