import { expect, spyOn, test } from "bun:test";
import { LinearPattern } from "./linear-pattern.ts";

test("a pattern is matched anywhere in the text, as the runtime would", () => {
  for (const [pattern, text, fits] of [
    ["^[A-Z]{3}$", "ULM", true],
    ["^[A-Z]{3}$", "ULMS", false],
    ["b+", "abc", true],
    ["^https?://[^/]+/", "https://a.example/b", true],
    ["^(?<year>\\d{4})$", "2026", true],
    ["^\\u00e9$", "é", true],
  ] as const)
    expect([pattern, new LinearPattern(pattern).test(text)]).toEqual([pattern, fits]);
});

test("the runtime's own matching, which may never end, is not used, and what needs it is refused", () => {
  using matching = spyOn(RegExp.prototype, "exec");
  expect(new LinearPattern("^(a+)+$").test(`${"a".repeat(10_000)}!`)).toBe(false);
  expect(matching.mock.contexts.some((one) => one instanceof LinearPattern)).toBe(false);
  for (const pattern of ["^(?=a)", "(a)\\1", "(", "a{1,2000}"]) expect(() => new LinearPattern(pattern)).toThrow();
});
