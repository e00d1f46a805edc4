import { expect, test } from "bun:test";
import { calcPrice } from "@pydantic/genai-prices";
import { families, traitsOf } from "./capabilities.ts";

const providers: Readonly<Record<string, string>> = {
  gpt: "https://api.openai.com/v1",
  o: "https://api.openai.com/v1",
  claude: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
  kimi: "https://api.moonshot.ai/v1",
};

/** Its window is smaller than its family's, which the list has for it. */
const otherwise = ["gpt-5-chat"];

const listed = Object.keys(families).flatMap((family) => {
  if (otherwise.includes(family)) return [];
  const maker = /^(gpt|claude|gemini|kimi|o(?=\d))/.exec(family)?.[1];
  const providerApiUrl = providers[maker ?? ""];
  if (providerApiUrl === undefined) return [];
  const window = calcPrice({ input_tokens: 1, output_tokens: 1 }, family, { providerApiUrl })?.model.context_window;
  return window === undefined ? [] : [[family, window] as const];
});

test("there are families that the list of prices knows too", () => expect(listed.length).toBeGreaterThan(15));

test.each(listed)("%s has the window that the list of prices has: %d", (family, window) => {
  const { contextWindow } = traitsOf({ name: family, capabilities: {} });
  // Some round the same figure.
  expect(Math.abs(contextWindow - window) / window).toBeLessThan(0.06);
});

test("each maker's models are known by what they can do", () => {
  const of = (name: string) => traitsOf({ name, capabilities: {} });
  expect(of("us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toMatchObject({
    vision: true,
    reasoning: true,
    cacheMarks: true,
  });
  expect(of("amazon.nova-pro-v1:0")).toMatchObject({ vision: true, cacheMarks: true });
  expect(of("qwen/qwen3-vl-235b")).toMatchObject({ vision: true });
  expect(of("z-ai/glm-4.6")).toMatchObject({ contextWindow: 200_000, reasoning: true, vision: false });
  expect(of("moonshotai/kimi-k2-thinking")).toMatchObject({ reasoning: true });
  expect(of("deepseek-reasoner")).toMatchObject({ reasoning: true, vision: false });
  expect(of("meta-llama/llama-4-maverick")).toMatchObject({ vision: true });
  expect(of("mistral-medium-latest")).toMatchObject({ vision: true });
  expect(of("gpt-5-pro").responses).toBeTrue();
});
