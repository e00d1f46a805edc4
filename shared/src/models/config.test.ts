import { expect, test } from "bun:test";
import { modelConfigSchema } from "./config.ts";

test("a name is enough, and a fallback is a complete configuration", () => {
  const config = modelConfigSchema.parse({
    name: "gpt-4o",
    fallback: { name: "llama", baseUrl: "http://127.0.0.1:11434/v1" },
  });
  expect(config).toMatchObject({ baseUrl: "https://api.openai.com/v1", apiType: "openai", maxRetries: 4 });
  expect(config.fallback).toMatchObject({ name: "llama", maxRetries: 4 });
});

test("an answer may be silent for a minute once it has begun, and for five before", () => {
  const { idleTimeoutMs, firstDeltaTimeoutMs } = modelConfigSchema.parse({ name: "gpt-4o" });
  expect([idleTimeoutMs, firstDeltaTimeoutMs]).toEqual([60_000, 300_000]);
});

const wrong: [string, object][] = [
  ["an unknown key", { modle: "x" }],
  ["an unknown capability", { capabilities: { sight: true } }],
  ["a base URL that is none", { baseUrl: "api.openai.com" }],
  ["a base URL of another kind", { baseUrl: "file:///etc/passwd" }],
  ["an empty key", { apiKey: "" }],
  ["a negative price", { price: { inputPerMillion: -1, outputPerMillion: 1 } }],
  ["an unknown API type", { apiType: "cohere" }],
];
test.each(wrong)("%s is refused", (_, config) => {
  expect(modelConfigSchema.safeParse({ name: "gpt-4o", ...config }).success).toBe(false);
});
