import { expect, test } from "bun:test";
import { calcPrice } from "@pydantic/genai-prices";
import { costOf } from "./price.ts";

const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 1_000_000 };

test("a configured price is used, and a price of 0 is a price", () => {
  const at = { name: "mine", baseUrl: "http://127.0.0.1:1/v1" };
  expect(costOf(usage, { ...at, price: { inputPerMillion: 2, outputPerMillion: 4 } })).toBe(6);
  const price = { inputPerMillion: 2, cachedInputPerMillion: 0, outputPerMillion: 4 };
  expect(costOf(usage, { ...at, price })).toBe(5);
  expect(costOf(usage, { ...at, price: { inputPerMillion: 0, outputPerMillion: 0 } })).toBe(0);
});

test("a known model at its provider has its list price, with the discount for cached input", () => {
  const known = { name: "gpt-4o", baseUrl: "https://api.openai.com/v1", price: undefined };
  const cost = costOf(usage, known);
  expect(cost).toBeGreaterThan(0);
  expect(costOf({ ...usage, cachedInputTokens: 0 }, known)).toBeGreaterThan(cost ?? 0);
});

test("an unknown model, or a known name at an unknown address, has no price", () => {
  expect(costOf(usage, { name: "nobody-knows", baseUrl: "https://api.openai.com/v1", price: undefined })).toBeNull();
  expect(costOf(usage, { name: "gpt-4o", baseUrl: "http://127.0.0.1:11434/v1", price: undefined })).toBeNull();
});

test("a provider of the list has its price at its own address, and none by plain HTTP, which no provider speaks", () => {
  for (const [name, host] of [
    ["gpt-4o", "api.openai.com/v1"],
    ["gpt-4o", "mine.openai.azure.com/openai/v1"],
    ["claude-sonnet-4-5", "api.anthropic.com"],
  ] as const) {
    expect([host, costOf(usage, { name, baseUrl: `https://${host}`, price: undefined })]).toEqual([
      host,
      expect.any(Number),
    ]);
    expect([host, costOf(usage, { name, baseUrl: `http://${host}`, price: undefined })]).toEqual([host, null]);
  }
});

test("more cached tokens than tokens give no refund", () => {
  const price = { inputPerMillion: 2, cachedInputPerMillion: 1, outputPerMillion: 0 };
  const odd = { inputTokens: 1_000_000, cachedInputTokens: 3_000_000, outputTokens: 0 };
  expect(costOf(odd, { name: "mine", baseUrl: "http://127.0.0.1:1/v1", price })).toBe(1);
});

test("the list is searched once for each configuration, and gives what it would give each time", () => {
  const [openAi, deepSeek] = ["https://api.openai.com/v1", "https://api.deepseek.com"];
  // The price of some depends on the time of day, that of others on the number of requests.
  for (const [name, baseUrl] of [
    ...["gpt-4o", "gpt-4o-mini", "gpt-5", "gpt-5.4", "o3"].map((one) => [one, openAi] as const),
    ["deepseek-chat", deepSeek],
    ["claude-sonnet-4-5", "https://api.anthropic.com"],
    ["sonar", "https://api.perplexity.ai"],
  ] as const) {
    const config = { name, baseUrl, price: undefined };
    for (const [inputTokens, cachedInputTokens, outputTokens] of [
      [1_000, 0, 50],
      [400_000, 300_000, 9_000],
      [272_000, 0, 1],
    ] as const) {
      const listed = calcPrice(
        { input_tokens: inputTokens, cache_read_tokens: cachedInputTokens, output_tokens: outputTokens },
        name,
        { providerApiUrl: config.baseUrl },
      );
      const cost = costOf({ inputTokens, cachedInputTokens, outputTokens }, config);
      expect(cost).toBeCloseTo(listed?.total_price ?? Number.NaN, 8);
    }
  }
  const config = { name: "gpt-4o", baseUrl: "https://api.openai.com/v1", price: undefined };
  costOf(usage, config);
  // The least of several, since others may have the processor meanwhile.
  const least = (asked: () => object) => Math.min(...Array.from({ length: 7 }, () => tookFor(asked)));
  const tookFor = (asked: () => object) => {
    const begun = performance.now();
    for (let n = 0; n < 300; n++) costOf(usage, asked() as typeof config);
    return performance.now() - begun;
  };
  expect(least(() => config)).toBeLessThan(least(() => ({ ...config })) / 5);
});

test("what is written to a cache has its own price, is no fresh input, and is never more than what is left", () => {
  const at = { name: "mine", baseUrl: "http://127.0.0.1:1/v1" };
  const million = 1_000_000;
  const tokens = {
    inputTokens: 4 * million,
    cachedInputTokens: million,
    cacheWriteTokens: million,
    outputTokens: million,
  };
  const price = { inputPerMillion: 10, cachedInputPerMillion: 1, cacheWritePerMillion: 100, outputPerMillion: 1_000 };
  const cost = (more: object, of: object = price) =>
    costOf({ ...tokens, ...more }, { ...at, price: of as typeof price });
  expect(cost({})).toBe(2 * 10 + 1 + 100 + 1_000);
  expect(cost({}, { inputPerMillion: 10, outputPerMillion: 0 })).toBe(40);
  expect(cost({ cacheWriteTokens: 9 * million })).toBe(1 + 3 * 100 + 1_000);
  expect(cost({ cacheWriteTokens: undefined })).toBe(3 * 10 + 1 + 1_000);
});

test("a list's prices by size begin above their size, and count what was written to a cache", () => {
  const claude = { name: "claude-sonnet-4-5", baseUrl: "https://api.anthropic.com", price: undefined };
  for (const [inputTokens, cacheWriteTokens] of [
    [200_000, 0],
    [200_001, 0],
    [300_000, 100_000],
    [1_000, 500],
  ] as const) {
    const listed = calcPrice(
      { input_tokens: inputTokens, cache_write_tokens: cacheWriteTokens, cache_read_tokens: 0, output_tokens: 10 },
      claude.name,
      { providerApiUrl: claude.baseUrl },
    );
    const cost = costOf({ inputTokens, cachedInputTokens: 0, cacheWriteTokens, outputTokens: 10 }, claude);
    expect(cost).toBeCloseTo(listed?.total_price ?? Number.NaN, 8);
  }
});

test("what a list has no price for costs what the list says: cached and written like input, answers of none nothing", () => {
  const [openAi, google] = ["https://api.openai.com/v1", "https://generativelanguage.googleapis.com"];
  for (const [name, baseUrl] of [
    ...["gpt-4", "gpt-4o", "text-embedding-3-small"].map((one) => [one, openAi] as const),
    ["claude-sonnet-4-5", "https://api.anthropic.com"],
    ["gemini-2.5-pro", google],
  ] as const)
    for (const [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens] of [
      [1_000, 400, 500, 50],
      [300_000, 150_000, 100_000, 10_000],
      [300_000, 250_000, 0, 210_000],
    ] as const) {
      const tokens = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens };
      const listed = calcPrice(
        {
          ...{ input_tokens: inputTokens, cache_read_tokens: cachedInputTokens },
          ...{ cache_write_tokens: cacheWriteTokens, output_tokens: outputTokens },
        },
        name,
        { providerApiUrl: baseUrl },
      );
      const cost = costOf(tokens, { name, baseUrl, price: undefined });
      expect([name, cost]).toEqual([name, expect.closeTo(listed?.total_price ?? Number.NaN, 8)]);
    }
});
