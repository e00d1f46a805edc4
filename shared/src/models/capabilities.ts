import type { Capabilities } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";
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
};

const reasoning = { temperature: false, maxTokensParameter: "max_completion_tokens" } as const;

/** Defaults by prefix of the name; the longest matching prefix wins. Used only for defaults. */
const families: Readonly<Record<string, Partial<Traits>>> = {
  "gpt-4": { contextWindow: 128_000 },
  "gpt-4o": { vision: true, contextWindow: 128_000, maxOutputTokens: 16_384 },
  "gpt-4.1": { vision: true, contextWindow: 1_047_576, maxOutputTokens: 32_768 },
  "gpt-5": { ...reasoning, vision: true, contextWindow: 400_000, maxOutputTokens: 128_000 },
  o1: { ...reasoning, vision: true, contextWindow: 200_000, maxOutputTokens: 100_000 },
  o3: { ...reasoning, vision: true, contextWindow: 200_000, maxOutputTokens: 100_000 },
  "o3-mini": { ...reasoning, contextWindow: 200_000, maxOutputTokens: 100_000 },
  o4: { ...reasoning, vision: true, contextWindow: 200_000, maxOutputTokens: 100_000 },
  claude: { vision: true, contextWindow: 200_000, maxOutputTokens: 32_000 },
  "claude-3": { vision: true, contextWindow: 200_000, maxOutputTokens: 4096 },
  "claude-3-5": { vision: true, contextWindow: 200_000, maxOutputTokens: 8192 },
  "claude-3-7": { vision: true, contextWindow: 200_000, maxOutputTokens: 64_000 },
  gemini: { vision: true, contextWindow: 1_048_576, maxOutputTokens: 8192 },
  "gemini-2.5": { vision: true, contextWindow: 1_048_576, maxOutputTokens: 65_536 },
  deepseek: { contextWindow: 128_000, maxOutputTokens: 8192 },
  grok: { vision: true, contextWindow: 131_072, maxOutputTokens: 16_384 },
  mistral: { contextWindow: 128_000, maxOutputTokens: 8192 },
  rehearsal: { contextWindow: 128_000, maxOutputTokens: 8192 },
};

/**
 * What a model can do: from its configuration, otherwise its family, otherwise a cautious guess.
 */
export function traitsOf(config: Pick<ModelConfig, "name" | "capabilities">): Traits {
  const family = familyOf(config.name);
  const given = Object.entries(config.capabilities).filter(([, value]) => value !== undefined);
  return { ...unknownModel, ...(family === undefined ? {} : families[family]), ...Object.fromEntries(given) };
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
  const plain = plainName(name);
  return Object.keys(families)
    .filter((family) => plain.startsWith(family))
    .sort((a, b) => b.length - a.length)[0];
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
  return undefined;
}
