import { expect, test } from "bun:test";
import { traitsOf } from "./capabilities.ts";

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
