import { expect, test } from "bun:test";
import { usageOf } from "./completion.ts";

test("models' output counts as completion tokens, everything else as prompt tokens", () => {
  const usage = { tokens: 1_000, outputTokens: 150, usd: 0.5, unpriced: false };
  expect(usageOf({ usage })).toEqual({ prompt_tokens: 850, completion_tokens: 150, total_tokens: 1_000 });
  const untold = { tokens: 1_000, usd: 0.5, unpriced: false };
  expect(usageOf({ usage: untold })).toEqual({ prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 });
});
