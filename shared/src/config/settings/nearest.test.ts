import { expect, test } from "bun:test";
import { nearestName } from "./nearest.ts";

test.each([
  ["modle", ["model", "price"], "model"],
  ["bse_url", ["base_url", "api_key"], "base_url"],
  ["MODEL", ["model"], "model"],
  // One letter may always be wrong; in longer names one of three.
  ["ab", ["abc"], "abc"],
  ["ab", ["xy"], undefined],
  ["abcdef", ["abcdxy"], "abcdxy"],
  ["abcdef", ["abcxyz"], undefined],
  ["prot", ["port"], "port"],
  ["zzzzba", ["yyyyab"], undefined],
  ["abcdefgh", ["ab"], undefined],
  ["ab", ["abcdefgh"], undefined],
  ["fille", ["flies", "file"], "file"],
  ["x", [], undefined],
])("what was typed as %j among %j meant %p", (typed, known, meant) => {
  expect(nearestName(typed, known)).toBe(meant as string);
});
