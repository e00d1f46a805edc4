import { expect, test } from "bun:test";
import { nameLike } from "./name-like.ts";

test.each([
  ["release-notes", "release-note"],
  ["release-notes", "release-notess"],
  ["release-notes", "release-nodes"],
  ["release-notes", "elease-notes"],
  ["release-notes", "xrelease-notes"],
  ["release-notes", "releasenotes"],
  ["re-lease-notes", "release-no-tes"],
  ["form-filler", "forrn-filler"],
  ["vvrite-up", "write-up"],
  ["b1ll", "bill"],
  ["bil1", "bi1l"],
  ["t00l", "tool"],
  ["csv-55", "csv-ss"],
  ["abcdef", "abcdeg"],
  ["abcdef", "abcde-f"],
])("%s and %s can be taken for each other", (one, other) => {
  expect([nameLike(one, ["x", other]), nameLike(other, [one, "x"])]).toEqual([other, one]);
});

test.each([
  ["release-notes", "release-notes-fr"],
  ["release-notes", "relaese-notes"],
  ["release-notes", "release-modes"],
  ["abcde", "abcdf"],
  ["abcde", "abcdex"],
  ["pdf", "pdg"],
  ["report", "import"],
])("%s and %s are told apart", (one, other) => {
  expect([nameLike(one, [other]), nameLike(other, [one])]).toEqual([undefined, undefined]);
});

test("the first of several like names is told", () => {
  expect(nameLike("release-notes", ["other", "release-note", "release-nodes"])).toBe("release-note");
  expect(nameLike("release-notes", [])).toBeUndefined();
});
