import { expect, spyOn, test } from "bun:test";
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

test("a token that is no longer valid makes room, and counts as new when it is verified again", () => {
  const tokens = createVerifiedTokens(Date.now);
  for (let n = 0; n < 1_000; n++) tokens.keep(`token ${n}`, verified);
  expect(tokens.find("token 0", 2)).toBeUndefined();
  tokens.keep("token 0", verified);
  tokens.keep("one more", verified);
  expect([tokens.find("token 0", 1), tokens.find("token 1", 1)]).toEqual([caller, undefined]);
});

test("a token is not known by other keys, or by none", () => {
  const tokens = createVerifiedTokens(Date.now);
  tokens.keep("token", { ...verified, version: undefined });
  expect(tokens.find("token", undefined)).toBeUndefined();
  tokens.keep("token", verified);
  expect(tokens.find("token", 1)).toBe(caller);
  expect(tokens.find("token", 2)).toBeUndefined();
});

test("a token is known for less than a minute, and not at the moment it expires", () => {
  let wall = 1_000;
  let uptime = 500;
  using _ = spyOn(performance, "now").mockImplementation(() => uptime);
  const tokens = createVerifiedTokens(() => wall);
  const keepAt = (expires: number) => tokens.keep("token", { ...verified, expires });
  keepAt(2_000);
  wall = 1_999;
  expect(tokens.find("token", 1)).toBe(caller);
  wall = 2_000;
  expect(tokens.find("token", 1)).toBeUndefined();
  keepAt(1_000_000);
  uptime += 59_999;
  expect(tokens.find("token", 1)).toBe(caller);
  uptime += 1;
  expect(tokens.find("token", 1)).toBeUndefined();
});
