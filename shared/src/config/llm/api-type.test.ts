import { expect, test } from "bun:test";
import { llmSection } from "../sections/llm-section.ts";
import { apiTypeOf, modelAddress } from "./api-type.ts";
import { defaultModel, modelFor, namedModels, roleModels } from "./models.ts";

const read = (table: object) => llmSection.parse(table);

test.each([
  [{}, "openai"],
  [{ base_url: "http://127.0.0.1:11434/v1" }, "openai"],
  [{ base_url: "https://api.anthropic.com/v1/" }, "anthropic"],
  [{ base_url: "https://api.anthropic.com/v1/", api_type: "openai" }, "openai"],
  [{ base_url: "https://generativelanguage.googleapis.com/v1beta" }, "google"],
  [{ base_url: "https://generativelanguage.googleapis.com/v1beta/openai/" }, "openai"],
  [{ base_url: "https://mine.openai.azure.com" }, "azure"],
  [{ base_url: "https://mine.openai.azure.com/openai/v1/" }, "openai"],
  [{ base_url: "bedrock-runtime.eu-west-1.amazonaws.com" }, "aws"],
  [{ base_url: "bedrock-runtime.eu-west-1.amazonaws.com", api_key: "a Bedrock API key" }, "openai"],
  [{ model: "gpt-5-codex" }, "responses"],
  [{ model: "gpt-5-codex", base_url: "http://127.0.0.1:1/v1" }, "openai"],
  [{ model: "gpt-5" }, "openai"],
  [{ api_type: "Gemini" }, "google"],
  [{ api_type: "bedrock" }, "aws"],
  [{ api_type: "cohere" }, "openai"],
])("%j is spoken to as %s", (table, apiType) => {
  expect(apiTypeOf(read(table))).toBe(apiType as ReturnType<typeof apiTypeOf>);
});

test("each protocol has its usual address", () => {
  expect(modelAddress(read({ api_type: "anthropic" })).baseUrl).toBe("https://api.anthropic.com/v1");
  expect(modelAddress(read({ base_url: "https://api.anthropic.com" })).baseUrl).toBe("https://api.anthropic.com/v1");
  expect(modelAddress(read({ api_type: "google" })).baseUrl).toBe("https://generativelanguage.googleapis.com/v1beta");
  expect(modelAddress(read({ api_type: "aws", region: "eu-west-1" }))).toEqual({
    apiType: "aws",
    baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com",
    region: "eu-west-1",
  });
});

test("Bedrock without a region is refused, with both ways to give one", () => {
  expect(() => defaultModel(read({ model: "m", api_type: "aws", base_url: "http://127.0.0.1:1" }))).toThrow(
    /region = "us-east-1".*base_url = "bedrock-runtime/,
  );
});

const base = { model: "big", base_url: "https://api.anthropic.com/v1", api_key: "k", api_type: "anthropic" };

test("a table of another protocol inherits neither key nor address", () => {
  const models = namedModels(
    read({
      ...base,
      google: { model: "g", api_type: "google", api_key: "g-key" },
      local: { model: "l", base_url: "http://127.0.0.1:1/v1" },
      same: { model: "s" },
    }),
  );
  expect(models.google).toMatchObject({
    apiType: "google",
    apiKey: "g-key",
    baseUrl: expect.stringContaining("google"),
  });
  expect([models.local?.apiType, models.local?.apiKey]).toEqual(["openai", undefined]);
  expect(models.same).toMatchObject({ apiType: "anthropic", apiKey: "k", baseUrl: base.base_url });
});

test("what models of a family can do is set once, and a table overrides it", () => {
  const llm = read({
    ...base,
    families: { "claude-9": { context_window: 3_000_000, price: { input_per_million: 1, output_per_million: 2 } } },
    special: { model: "claude-9-mini", capabilities: { context_window: 1_000 } },
  });
  expect(modelFor("claude-9-opus", llm)).toMatchObject({
    capabilities: { contextWindow: 3_000_000 },
    price: { inputPerMillion: 1 },
  });
  expect(modelFor("special", llm)?.capabilities.contextWindow).toBe(1_000);
  expect(modelFor("claude-8", llm)?.capabilities.contextWindow).toBeUndefined();
});

test("the tables for parts of the work are used by their names", () => {
  const roles = roleModels(read({ ...base, summary: { model: "small" }, vision: { model: "eyes" } }));
  expect(Object.keys(roles).toSorted()).toEqual(["summary", "vision"]);
  expect(roles.summary).toMatchObject({ name: "small", apiKey: "k" });
  expect(roles.vision?.capabilities.vision).toBeTrue();
});

test.each([
  ["https://mine.openai.azure.com.evil.example", "openai"],
  ["https://mine.openai.azure.us", "azure"],
  ["https://mine.openai.azure.cn", "azure"],
  ["https://mine.cognitiveservices.azure.com", "azure"],
  ["https://mine.storage.azure.com", "openai"],
  ["https://bedrock-runtime-fips.us-east-1.api.aws", "aws"],
  ["https://api.anthropic.com.evil.example", "openai"],
  ["https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", "openai"],
] as const)("a key is sent to %s as to %s", (base_url, apiType) => {
  expect(apiTypeOf(read({ base_url }))).toBe(apiType);
});

test("Bedrock's chat completions are where its host's address says, or at their usual place", () => {
  const at = (base_url: string) => modelAddress(read({ base_url, api_key: "k" })).baseUrl;
  const host = "https://bedrock-runtime.eu-west-1.amazonaws.com";
  expect([at(host), at(`${host}/own/v2`)]).toEqual([`${host}/openai/v1`, `${host}/own/v2`]);
});
