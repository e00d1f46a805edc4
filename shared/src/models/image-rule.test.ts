import { expect, test } from "bun:test";
import { imageRuleOf, imageTokens, seenSize } from "./image-rule.ts";

const square = (side: number) => ({ width: side, height: side });

/** As the providers' guides have them. */
const told: [model: string, width: number, height: number, tokens: number][] = [
  ["gpt-4o", 1024, 1024, 765],
  ["gpt-4o", 2048, 4096, 1105],
  ["gpt-4o-mini", 512, 512, 8500],
  ["gpt-5", 1024, 1024, 630],
  ["o3", 1024, 1024, 675],
  ["gpt-4.1-mini", 1024, 1024, Math.ceil(1024 * 1.62)],
  ["gpt-4.1-nano", 1024, 1024, Math.ceil(1024 * 2.46)],
  ["claude-sonnet-4", 1092, 1092, 1521],
  ["claude-sonnet-4", 200, 200, 64],
  ["gemini-2.5-flash", 384, 384, 258],
  ["gemini-2.5-flash", 1536, 768, 516],
];
test.each(told)("%s counts an image of %d × %d as its provider says", (model, width, height, tokens) => {
  expect(imageTokens({ width, height }, imageRuleOf(model))).toBe(tokens);
});

test("what a provider makes smaller counts no more than the largest it looks at", () => {
  const most = {
    "gpt-4.1-mini": 1536 * 1.62,
    "claude-opus-4": 1568,
    "claude-opus-4-7": 4784,
    "gemini-2.5-pro": 16 * 258,
  };
  for (const [model, limit] of Object.entries(most)) {
    for (const size of [square(9_000), { width: 12_000, height: 700 }, { width: 3, height: 5_000 }, square(1_300)]) {
      expect(imageTokens(size, imageRuleOf(model))).toBeLessThanOrEqual(Math.ceil(limit));
    }
  }
  expect(imageTokens({ width: 1800, height: 2400 }, imageRuleOf("gpt-4.1-mini"))).toBeWithin(
    1_400 * 1.62,
    1536 * 1.62 + 1,
  );
});

test("an image that is looked at as it is stays so, and none is made larger", () => {
  for (const model of ["gpt-4o", "gpt-5-mini", "claude-sonnet-4", "gemini-2.5-pro", "unheard-of"]) {
    expect(seenSize(square(100), imageRuleOf(model))).toEqual(square(100));
    expect(seenSize({ width: 800, height: 600 }, imageRuleOf(model))).toEqual({ width: 800, height: 600 });
  }
  expect(seenSize(square(2_000), imageRuleOf("gpt-4o"))).toEqual(square(768));
  expect(seenSize({ width: 3_136, height: 100 }, imageRuleOf("claude-3"))).toEqual({ width: 1_568, height: 50 });
});
