import { expect, test } from "bun:test";
import { llmSection } from "../sections/llm-section.ts";
import { defaultModel, modelFor, namedModels } from "./models.ts";

const read = (table: object) => llmSection.parse(table);

test("each key of a model's table reaches the model, in the model's own units", () => {
  const model = defaultModel(
    read({
      model: "m",
      base_url: "http://127.0.0.1:1/v1",
      api_key: "k",
      max_tokens: 11,
      temperature: 0.5,
      api_type: "azure",
      api_version: "v",
      provider: "p",
      reasoning_effort: "low",
      concurrency: 12,
      tokens_per_minute: 13,
      first_delta_timeout: 1.5,
      idle_timeout: 2.5,
      max_retries: 3,
      capabilities: {
        tools: false,
        parallel_tool_calls: false,
        vision: true,
        context_window: 14_000,
        max_output_tokens: 1_500,
        temperature: false,
        stream_usage: false,
        max_tokens_parameter: "max_completion_tokens",
      },
      price: { input_per_million: 1, cached_input_per_million: 0.25, output_per_million: 2 },
    }),
  );
  expect(model).toMatchObject({
    name: "m",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKey: "k",
    maxOutputTokens: 11,
    temperature: 0.5,
    apiType: "azure",
    apiVersion: "v",
    provider: "p",
    reasoningEffort: "low",
    concurrency: 12,
    tokensPerMinute: 13,
    firstDeltaTimeoutMs: 1_500,
    idleTimeoutMs: 2_500,
    maxRetries: 3,
    capabilities: {
      tools: false,
      parallelToolCalls: false,
      vision: true,
      contextWindow: 14_000,
      maxOutputTokens: 1_500,
      temperature: false,
      streamUsage: false,
      maxTokensParameter: "max_completion_tokens",
    },
    price: { inputPerMillion: 1, cachedInputPerMillion: 0.25, outputPerMillion: 2 },
  });
});

const base = {
  model: "big",
  base_url: "http://127.0.0.1:1/v1",
  api_key: "k",
  provider: "p",
  price: { input_per_million: 1, output_per_million: 2 },
  capabilities: { vision: true },
  temperature: 0.5,
};

test("a table at the same endpoint inherits what is its; at another one neither key nor price nor abilities", () => {
  const { same, other } = namedModels(
    read({
      ...base,
      same: { model: "little", base_url: base.base_url },
      other: { model: "far", base_url: "http://127.0.0.1:2/v1" },
    }),
  );
  expect(same).toMatchObject({ name: "little", apiKey: "k", provider: "p", price: { inputPerMillion: 1 } });
  expect(same?.capabilities).toMatchObject({ vision: true });
  expect([other?.name, other?.apiKey, other?.provider, other?.price]).toEqual(["far", undefined, undefined, undefined]);
  expect([other?.capabilities?.vision, other?.temperature]).toEqual([undefined, 0.5]);
});

test("a key for the usual address goes to no other, and what bounds a table's model is its own", () => {
  const llm = read({
    ...{ model: "m", api_key: "k", tokens_per_minute: 100, concurrency: 2 },
    far: { base_url: "https://far.example/v1" },
    near: { tokens_per_minute: 7, concurrency: 3, max_retries: 1, fallback: "far" },
  });
  expect(modelFor("far", llm)?.apiKey).toBeUndefined();
  expect(modelFor("near", llm)).toMatchObject({
    ...{ apiKey: "k", tokensPerMinute: 7, concurrency: 3, maxRetries: 1 },
    fallback: { name: "m", baseUrl: "https://far.example/v1", tokensPerMinute: 100 },
  });
  expect(modelFor(undefined, llm)?.fallback).toBeUndefined();
});

test("a model is named by its table, or by its own name at the endpoint of [llm], even if that is a key's name", () => {
  const llm = read({ ...base, wise: { model: "wiser" } });
  expect(modelFor("wise", llm)?.name).toBe("wiser");
  for (const name of ["other", "model", "temperature", "toString"])
    expect(modelFor(name, llm)).toMatchObject({ name, apiKey: "k", baseUrl: base.base_url });
  expect(modelFor(undefined, llm)?.name).toBe("big");
  expect(Object.keys(namedModels(llm))).toEqual(["wise"]);
});

test("a key or an endpoint alone is a model; a model's name alone is none that can be reached", () => {
  expect(defaultModel(read({}))).toBeUndefined();
  expect(defaultModel(read({ api_key: "k" }))?.name).toBe("gpt-5-mini");
  expect(defaultModel(read({ base_url: base.base_url }))?.name).toBe("gpt-5-mini");
  expect(() => defaultModel(read({ model: "m" }))).toThrow("The model m needs OPENAI_API_KEY");
});

test("fallbacks that go in a circle are refused by their names, wherever the circle begins", () => {
  const base = { base_url: "http://127.0.0.1:1/v1" };
  const circle = { ...base, a: { model: "a", fallback: "b" }, b: { model: "b", fallback: "c" }, c: { fallback: "b" } };
  const message = "[llm] fallback goes in a circle: a → b → c → b.";
  expect(() => modelFor("a", read(circle))).toThrow(expect.objectContaining({ code: "config_invalid", message }));
  const { a, b } = { a: { model: "a", fallback: "b" }, b: { model: "b", fallback: "c" } };
  expect(modelFor("a", read({ ...base, a, b }))).toMatchObject({ fallback: { name: "b", fallback: { name: "c" } } });
});

test("a table of another protocol takes neither version nor region of [llm], one of the same keeps both", () => {
  const { same, other } = namedModels(
    read({
      ...base,
      ...{ api_type: "azure", api_version: "v", region: "r" },
      same: { model: "s" },
      other: { model: "o", api_type: "anthropic", api_key: "its" },
    }),
  );
  expect(same).toMatchObject({ apiVersion: "v", region: "r" });
  expect(other?.apiVersion).not.toBe("v");
  expect([other?.region, other?.baseUrl]).toEqual([undefined, "https://api.anthropic.com/v1"]);
});

test("what a table says of a model is before what its family says, and what it says of seeing before its name", () => {
  const [own, family] = [
    { input_per_million: 1, output_per_million: 2 },
    { input_per_million: 3, output_per_million: 4 },
  ];
  const llm = read({
    base_url: base.base_url,
    families: { m: { price: family, reasoning: false, vision: false } },
    priced: { model: "m1", price: { ...own, cache_write_per_million: 5 }, capabilities: { reasoning: true } },
    vision: { model: "m2", image_detail: "low", capabilities: { vision: false } },
  });
  expect(modelFor("priced", llm)).toMatchObject({
    price: { inputPerMillion: 1, cacheWritePerMillion: 5 },
    capabilities: { reasoning: true, vision: false },
  });
  expect(modelFor("vision", llm)).toMatchObject({
    price: { inputPerMillion: 3 },
    imageDetail: "low",
    capabilities: { vision: false, reasoning: false },
  });
});

test("a region alone is a model that can be reached", () => {
  expect(defaultModel(read({ model: "m", region: "eu-west-1", api_type: "aws" }))).toMatchObject({
    region: "eu-west-1",
  });
});
