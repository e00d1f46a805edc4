import { expect, test } from "bun:test";
import { withoutLastSlashes } from "./without-last-slashes.ts";

test.each([
  ["https://a/b", "https://a/b"],
  ["https://a/b/", "https://a/b"],
  ["https://a//b///", "https://a//b"],
  ["///", ""],
  ["", ""],
  [`${"/".repeat(200_000)}a`, `${"/".repeat(200_000)}a`],
])("only slashes at the end go (%#)", (address, without) => {
  expect(withoutLastSlashes(address)).toBe(without);
});
