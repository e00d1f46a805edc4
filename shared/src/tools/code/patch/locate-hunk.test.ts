import { expect, test } from "bun:test";
import { locateHunk } from "./locate-hunk.ts";

/** Where these lines are found, or the error's message. */
function place(lines: readonly string[], wanted: readonly string[], expected?: number, line?: number) {
  const texts = wanted.map((text) => ({ op: text.startsWith("+") ? "+" : " ", text }) as const);
  try {
    const { index, notes } = locateHunk(lines, { line, lines: texts }, expected, "Hunk 1");
    return [index, ...notes];
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}
const down = (n: number) => `found ${n === 1 ? "1 line" : `${n} lines`} further down`;
const up = (n: number) => `found ${n === 1 ? "1 line" : `${n} lines`} further up`;
const atEnds = "white space at line ends differs";
const indented = "indentation differs: check the lines added";
const letters = [..."abcabcx"];

test.each<[string, readonly string[], readonly string[], number | undefined, unknown]>([
  ["exactly where it should be", letters, ["b", "c"], 1, [1]],
  ["the nearer of two places", letters, ["b", "c"], 3, [4, down(1)]],
  ["the nearer of two places before", letters, ["b", "c"], 2, [1, up(1)]],
  ["the only place, however far", letters, ["x"], 0, [6, down(6)]],
  ["the only place without a line", letters, ["c", "x"], undefined, [5]],
  ["at the very end", letters, ["b", "c", "x"], undefined, [4]],
  ["with other line ends in the file", ["a ", "b"], ["a", "b"], 0, [0, atEnds]],
  ["with other line ends in the patch", ["a", "b"], ["a\t", "b"], 0, [0, atEnds]],
  ["with another indentation", ["  a", "b"], ["a", "\tb"], 0, [0, indented]],
  ["exactly rather than nearer with other white space", ["a ", "x", "a"], ["a"], 0, [2, down(2)]],
])("old lines are found %s", (_, lines, wanted, expected, found) => {
  expect(place(lines, wanted, expected)).toEqual(found as string);
});

test.each<[string, readonly string[], readonly string[], number | undefined]>([
  ["two places and no line", letters, ["b", "c"], undefined],
  ["two places equally near", ["a", "x", "a"], ["a"], 1],
  ["two places with another indentation", [" a", "x", "x", " a"], ["a"], 0],
])("%s are ambiguous", (_, lines, wanted, expected) => {
  expect(place(lines, wanted, expected)).toContain("fits in several places, at lines ");
});

test("of many places ten are named", () => {
  expect(
    place(
      Array.from({ length: 12 }, () => "a"),
      ["a"],
    ),
  ).toBe("Hunk 1 fits in several places, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10. Add lines around it.");
});

test("lines that are only added follow the line the patch names, up to the file's end", () => {
  const says = "Hunk 1 only adds lines and does not say where. Add lines that stand around them.";
  expect(place(["a", "b"], ["+n"], 0, 1)).toEqual([1]);
  expect(place(["a", "b"], ["+n"], 1, 2)).toEqual([2]);
  expect(place(["a", "b"], ["+n"], 2, 3)).toBe(says);
  expect(place(["a", "b"], ["+n"], 0)).toBe(says);
  expect(place(["a", "b"], ["+n"], undefined, 1)).toBe(says);
  expect(place([], ["+n"])).toEqual([0]);
});

test("a single wanted line that is only a part of one is answered with that whole line", () => {
  expect(place(["fn a() {}", "fn b() { 1 }"], ["fn b()"])).toBe(
    'Hunk 1 does not fit: "fn b()" is only a part of line 2, and a patch takes whole lines: "fn b() { 1 }". Nothing was changed.',
  );
  expect(place(["fn b() {}", "fn b() { 1 }"], ["fn b()"])).toContain("The closest place in the file:");
});

test("what does not fit is answered with the differing line and what stands at the closest place", () => {
  const lines = ["zero", "one", "two", "  three", "four", "five", "six"];
  expect(place(lines, ["two", "three", "FOUR"], 0)).toBe(
    [
      'Hunk 1 does not fit: its line "FOUR" is not where it should be. Nothing was changed. The closest place in the file:',
      ...["     2\tone", "     3\ttwo", "     4\t  three", "     5\tfour", "     6\tfive"],
    ].join("\n"),
  );
  expect(place([], ["a"])).toBe("Hunk 1 does not fit: the file is empty. Nothing was changed.");
  expect(place(["a", "b"], ["x"], 9)).toContain("     1\ta\n     2\tb");
  const long = "y".repeat(300);
  const shown = String(place([long], ["x".repeat(300)], 0));
  expect(shown).toContain(`its line "${"x".repeat(200)}" is`);
  expect(shown).toContain(`     1\t${"y".repeat(200)}`);
  expect(shown).not.toContain("y".repeat(201));
  const many = Array.from({ length: 40 }, (_, n) => `${n}`);
  expect(String(place(many, [...many.slice(5, 30), "X"], 5)).split("\n")).toHaveLength(13);
});

test("of places that match equally well the one nearest to where it should be is shown", () => {
  const lines = ["a", "x", "x", "x", "a", "y"];
  expect(place(lines, ["a", "B"], 4)).toContain("     4\tx\n     5\ta\n     6\ty");
  expect(place(lines, ["a", "B"], 0)).toContain("     1\ta\n     2\tx");
});
