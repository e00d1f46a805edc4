import * as z from "zod";
import { defined } from "../core/json.ts";
import type { Capabilities } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";
import table from "./families.json" with { type: "json" };
import type { ModelFailure } from "./model-failure.ts";

/** A model's capabilities, and the quirks of its parameters on the wire. */
export type Traits = Capabilities & {
  /** Whether it accepts a temperature other than its own. */
  readonly temperature: boolean;
  /** Whether it can be forced to call a tool, or a certain one; reasoning models often cannot. */
  readonly forcedTools: boolean;
  /** Whether its server streams; one that does not may refuse the parameter. */
  readonly stream: boolean;
  /** Whether its server knows `stream_options`. */
  readonly streamUsage: boolean;
  readonly maxTokensParameter: "max_tokens" | "max_completion_tokens";
  /** Whether its server may know `response_format` with a schema. */
  readonly answerSchema: boolean;
  /** How closely it looks at images, where that can be told. */
  readonly imageDetail: ModelConfig["imageDetail"];
  /** Whether it thinks before it answers. */
  readonly reasoning: boolean;
  /** Whether its provider's own protocol takes marks for what to cache. */
  readonly cacheMarks: boolean;
  /** Whether OpenAI serves it by Responses only. */
  readonly responses: boolean;
};

/** Assumptions about an unknown name: a modern chat model on a small machine. */
const unknownModel: Traits = {
  tools: true,
  parallelToolCalls: true,
  vision: false,
  contextWindow: 32_768,
  maxOutputTokens: 8192,
  temperature: true,
  forcedTools: true,
  stream: true,
  streamUsage: true,
  maxTokensParameter: "max_tokens",
  answerSchema: true,
  imageDetail: "auto",
  reasoning: false,
  cacheMarks: false,
  responses: false,
};

const familySchema = z.strictObject({
  tools: z.boolean().exactOptional(),
  parallelToolCalls: z.boolean().exactOptional(),
  vision: z.boolean().exactOptional(),
  contextWindow: z.int().min(1).exactOptional(),
  maxOutputTokens: z.int().min(1).exactOptional(),
  reasoning: z.boolean().exactOptional(),
  temperature: z.boolean().exactOptional(),
  maxTokensParameter: z.enum(["max_tokens", "max_completion_tokens"]).exactOptional(),
  cacheMarks: z.boolean().exactOptional(),
  responses: z.boolean().exactOptional(),
});

/**
 * What models can do, by prefix of the name; the longest matching prefix wins. Used only for
 * defaults: the settings add to it (`[families.NAME]`) and override it. Prices are a table of their
 * own, `price.ts`.
 */
export const families: Readonly<Record<string, z.output<typeof familySchema>>> = z
  .record(z.string(), familySchema)
  .parse(table);

/**
 * What a model can do: from its configuration, otherwise its family, otherwise a cautious guess.
 */
export function traitsOf(
  config: Pick<ModelConfig, "name" | "capabilities"> & { readonly imageDetail?: ModelConfig["imageDetail"] },
): Traits {
  const family = familyOf(config.name);
  const { imageDetail = "auto" } = config;
  const ofFamily = family === undefined ? {} : families[family];
  return { ...unknownModel, ...ofFamily, ...defined(config.capabilities), imageDetail };
}

/**
 * The name without the maker that gateways put before it (`openai/gpt-4o`, `anthropic.claude-…`).
 */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z]+\.)+(?=[a-z])/, "");
}

function familyOf(name: string): string | undefined {
  return longestPrefix(plainName(name), Object.keys(families));
}

/** The longest of these prefixes that a plain name begins with. */
export function longestPrefix(plain: string, prefixes: readonly string[]): string | undefined {
  return prefixes.filter((prefix) => plain.startsWith(prefix)).sort((a, b) => b.length - a.length)[0];
}

const refusal =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra inputs|deprecated|must be verified/i;

/**
 * How servers say that they or a model do not support function calling; not always with a 4xx
 * status.
 */
const noTools =
  /(not support|unsupported|no support)\b[^.]{0,40}\b(tools?|function.?call\w*)\b|\b(tools?|tool.(use|calling|choice)|function.?call\w*)\W{0,2}( is| are| param)? (not (supported|enabled)|requires? --)|support tool use/i;

/**
 * The change in the traits after a provider refuses a parameter we can do without; undefined if it
 * refuses anything else. Each change happens at most once, so retries come to an end.
 */
export function withoutRefused({ kind, message }: ModelFailure, traits: Traits): Partial<Traits> | undefined {
  if (kind === "rejected" && traits.forcedTools && /tool_choice/.test(message)) return { forcedTools: false };
  if (traits.tools && noTools.test(message)) return { tools: false };
  if (kind === "rejected" && traits.answerSchema && /response_format|json_schema|grammar/i.test(message))
    return { answerSchema: false };
  if (kind !== "rejected" || !refusal.test(message)) return undefined;
  if (traits.streamUsage && /stream_options/.test(message)) return { streamUsage: false };
  if (traits.stream && /\bstream(ing)?\b/i.test(message)) return { stream: false };
  if (traits.maxTokensParameter === "max_tokens" && /max_completion_tokens/.test(message)) {
    return { maxTokensParameter: "max_completion_tokens" };
  }
  if (traits.temperature && /temperature/.test(message)) return { temperature: false };
  if (traits.cacheMarks && /cach(e|ing)/i.test(message)) return { cacheMarks: false };
  return undefined;
}
