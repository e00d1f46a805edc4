import { expect, test } from "bun:test";
import { tokenName } from "./token-name.ts";

test.each([
  ["laptop", true],
  ["a", true],
  ["_x", true],
  ["ci@build-1.example", true],
  ["a".repeat(100), true],
  ["a".repeat(101), false],
  ["", false],
  ["-rf", false],
  [".hidden", false],
  ["@me", false],
  ["my laptop", false],
  ["laptop ", false],
  ["laptop\n", false],
  ["a/b", false],
  ["\nlaptop", false],
])("%j is a token's name: %p", (name, isName) => {
  expect(tokenName.test(name)).toBe(isName);
});
