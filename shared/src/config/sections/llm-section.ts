import * as z from "zod";

const text = z.string().min(1);
const seconds = z.number().min(0.001).max(86_400);
const tokens = z.int().min(1).max(10_000_000_000);
const price = z.number().min(0).max(1_000_000);

/** What a model can do, as its owner knows better than its name implies. */
const capabilities = {
  tools: z.boolean().optional(),
  parallel_tool_calls: z.boolean().optional(),
  vision: z.boolean().optional(),
  context_window: tokens.optional(),
  max_output_tokens: tokens.optional(),
  temperature: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  stream_usage: z.boolean().optional(),
  max_tokens_parameter: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
};

/** Prices in US dollars per million tokens. */
const prices = z.strictObject({
  input_per_million: price,
  cached_input_per_million: price.optional(),
  cache_write_per_million: price.optional(),
  output_per_million: price,
});

/** Models whose names begin alike: `[llm.families.NAME]`, over what ships. */
const family = z.strictObject({ ...capabilities, price: prices.optional() });

/** AWS Bedrock given by its host alone, as in OpenManus's files. */
const bedrockHost = /^(bedrock-runtime\.[a-z\d-]+\.amazonaws\.com)\/?$/i;

/** OpenManus's keys of `[llm]`, then ours. */
const keys = {
  model: text.optional(),
  base_url: z
    .string()
    .overwrite((url) => url.replace(bedrockHost, "https://$1"))
    .refine((url) => /^https?:\/\/[^{}\s]+$/i.test(url) && URL.canParse(url))
    .describe("a URL that begins with http:// or https://")
    .optional(),
  api_key: text.optional(),
  api_key_env: text.describe("the name of the variable that holds the key").optional(),
  max_tokens: tokens.optional(),
  max_input_tokens: z.int().min(0).max(10_000_000_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  api_type: text.toLowerCase().optional(),
  api_version: z.string().optional(),
  region: text.optional(),
  provider: text.optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
  image_detail: z.enum(["low", "high", "auto"]).optional(),
  fallback: text.describe("the NAME of an [llm.NAME] table, or a model's name").optional(),
  concurrency: z.int().min(1).max(10_000).optional(),
  tokens_per_minute: tokens.optional(),
  first_delta_timeout: seconds.optional(),
  idle_timeout: seconds.optional(),
  max_retries: z.int().min(0).max(20).optional(),
  capabilities: z.strictObject(capabilities).optional(),
  price: prices.optional(),
};

const profile = z.strictObject(keys);

/** `[llm]`; its tables that are not keys are `[llm.NAME]`. */
export const llmSection = z
  .object({ ...keys, families: z.object({}).catchall(family).describe("tables; in a variable, as JSON").optional() })
  .catchall(profile);

/** What models of a family can do, and what they cost. */
export type FamilyTable = z.output<typeof family>;

/** The keys of one model. */
export type LlmProfile = z.output<typeof profile>;

/** `[llm]` as checked: the keys of the default model, and the named tables. */
export type LlmSection = z.output<typeof llmSection>;
