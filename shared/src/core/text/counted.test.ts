import { expect, test } from "bun:test";
import { counted, firstOf } from "./counted.ts";

test("one is singular, none and many are plural, in their own form if they have one", () => {
  expect([0, 1, 2].map((count) => counted(count, "page"))).toEqual(["0 pages", "1 page", "2 pages"]);
  expect([1, 3].map((count) => counted(count, "entry", "entries"))).toEqual(["1 entry", "3 entries"]);
});

test("of a long list the first are named and the others counted", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map((texts) => firstOf(texts, 2))).toEqual([
    "",
    "a",
    "a, b",
    "a, b and 1 more",
  ]);
});
