import { expect, test } from "bun:test";
import { callerNamed } from "../core/caller.ts";
import { createVerifiedTokens } from "./verified-tokens.ts";

const caller = callerNamed("alice");
const verified = { caller, version: 1, expires: Date.now() + 60_000 };

test("however many tokens are verified, the latest thousand are known", () => {
  const tokens = createVerifiedTokens(Date.now);
  for (let n = 0; n < 1_500; n++) tokens.keep(`token ${n}`, verified);
  const known = Array.from({ length: 1_500 }, (_, n) => tokens.find(`token ${n}`, 1));
  expect(known.map((one) => one === caller)).toEqual([...Array(500).fill(false), ...Array(1_000).fill(true)]);
});

test("a token is not known by other keys, or by none", () => {
  const tokens = createVerifiedTokens(Date.now);
  tokens.keep("token", { ...verified, version: undefined });
  expect(tokens.find("token", undefined)).toBeUndefined();
  tokens.keep("token", verified);
  expect(tokens.find("token", 1)).toBe(caller);
  expect(tokens.find("token", 2)).toBeUndefined();
});
