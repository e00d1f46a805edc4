import { expect, test } from "bun:test";
import { plainName, type Traits, traitsOf, withoutRefused } from "./capabilities.ts";
import { type FailureKind, ModelFailure } from "./model-failure.ts";

const of = (name: string, capabilities = {}) => traitsOf({ name, capabilities });

test("an unknown name gets cautious defaults that can call tools", () => {
  expect(of("my-finetune")).toMatchObject({ tools: true, vision: false, contextWindow: 32_768, temperature: true });
});

test("the longest matching family wins, after a vendor's name too", () => {
  expect(of("gpt-4.1-mini").contextWindow).toBe(1_047_576);
  expect(of("gpt-4o-2024-11-20").vision).toBe(true);
  expect(of("o3-mini")).toMatchObject({
    vision: false,
    temperature: false,
    maxTokensParameter: "max_completion_tokens",
  });
  expect(of("openai/o3").vision).toBe(true);
  expect(of("anthropic.claude-3-7-sonnet-20250219-v1:0").maxOutputTokens).toBe(64_000);
  expect(of("us.anthropic.claude-sonnet-4-5").vision).toBe(true);
  expect(of("Gemini-2.5-Pro").contextWindow).toBe(1_048_576);
});

test("configuration overrides what is assumed, with false and with true", () => {
  expect(of("gpt-4o", { vision: false, contextWindow: 8000 })).toMatchObject({ vision: false, contextWindow: 8000 });
  expect(of("my-finetune", { vision: true, temperature: undefined })).toMatchObject({
    vision: true,
    temperature: true,
  });
});

const refusedFor = (message: string, traits: Partial<Traits> = {}, kind: FailureKind = "rejected") =>
  withoutRefused(new ModelFailure(kind, message), { ...of("my-finetune"), ...traits });

test.each<[string, Partial<Traits>, FailureKind, Partial<Traits> | undefined]>([
  ["tool_choice is wrong", {}, "rejected", { forcedTools: false }],
  ["tool_choice is wrong", { forcedTools: false }, "rejected", undefined],
  ["tool_choice is wrong", {}, "unavailable", undefined],
  ["this model does not support tools", {}, "rejected", { tools: false }],
  ["this model does not support tools", {}, "unavailable", { tools: false }],
  ["this model does not support tools", { tools: false }, "rejected", undefined],
  ["response_format is wrong", { answerSchema: true }, "rejected", { answerSchema: false }],
  ["JSON_SCHEMA is wrong", { answerSchema: true }, "rejected", { answerSchema: false }],
  ["failed to parse grammar", { answerSchema: true }, "rejected", { answerSchema: false }],
  ["failed to parse grammar", { answerSchema: true }, "unavailable", undefined],
  ["failed to parse grammar", { answerSchema: false }, "rejected", undefined],
  ["unknown field stream_options", {}, "rejected", { streamUsage: false }],
  ["unknown field stream_options", {}, "unavailable", undefined],
  ["stream_options is too long", {}, "rejected", undefined],
  ["unknown field stream_options", { streamUsage: false }, "rejected", undefined],
  ["streaming is not supported", {}, "rejected", { stream: false }],
  ["stream not allowed", {}, "rejected", { stream: false }],
  ["streaming is not supported", { stream: false }, "rejected", undefined],
  ["unsupported, use max_completion_tokens", {}, "rejected", { maxTokensParameter: "max_completion_tokens" }],
  ["unsupported max_completion_tokens", { maxTokensParameter: "max_completion_tokens" }, "rejected", undefined],
  ["temperature is deprecated", {}, "rejected", { temperature: false }],
  ["temperature is deprecated", { temperature: false }, "rejected", undefined],
  ["unsupported cache_control", { cacheMarks: true }, "rejected", { cacheMarks: false }],
  ["unsupported cache_control", { cacheMarks: false }, "rejected", undefined],
  ["the messages are unexpected", {}, "rejected", undefined],
])("“%s” from a model with %j, %s, changes: %j", (message, traits, kind, change) => {
  expect(refusedFor(message, traits, kind)).toEqual(change as Partial<Traits>);
});

test("a refused parameter is known by each of the words for it", () => {
  const words = [
    "unsupported",
    "not support",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "not permitted",
  ];
  const more = ["not allowed", "extra inputs", "deprecated", "must be verified"];
  expect([...words, ...more].filter((word) => refusedFor(`temperature: ${word}`) === undefined)).toEqual([]);
});

test.each([
  ["openai/gpt-4o", "gpt-4o"],
  ["a/b/GPT-5", "gpt-5"],
  ["eu.anthropic.claude-3-7", "claude-3-7"],
  ["gpt-4.1-mini", "gpt-4.1-mini"],
  ["meta.7b", "meta.7b"],
])("the plain name of %s is %s", (name, plain) => {
  expect(plainName(name)).toBe(plain);
});

test.each([
  ["gpt-4-turbo", { vision: false, contextWindow: 128_000, maxTokensParameter: "max_tokens" }],
  ["gpt-5-mini", { vision: true, temperature: false, maxTokensParameter: "max_completion_tokens" }],
  ["o1-preview", { vision: true, temperature: false, contextWindow: 200_000 }],
  ["o4-mini", { vision: true, temperature: false, maxOutputTokens: 100_000 }],
  ["claude-3-opus", { vision: true, maxOutputTokens: 4_096, temperature: true }],
  ["claude-3-5-haiku", { vision: true, maxOutputTokens: 8_192 }],
  ["claude-3-7-sonnet", { vision: true, maxOutputTokens: 64_000 }],
  ["gpt-4.1", { vision: true, maxOutputTokens: 32_768 }],
  ["gemini-2.5-pro", { vision: true, maxOutputTokens: 65_536 }],
  ["my-gpt-4o", { vision: false, contextWindow: 32_768 }],
  ["gemini-1.5-pro", { vision: true, maxOutputTokens: 8_192 }],
  ["deepseek-chat", { vision: false, contextWindow: 128_000 }],
  ["grok-4", { vision: true, contextWindow: 131_072 }],
  ["mistral-large", { vision: false, contextWindow: 128_000 }],
])("of %s is assumed %j", (name, traits) => {
  expect(of(name)).toMatchObject(traits as Partial<Traits>);
});
