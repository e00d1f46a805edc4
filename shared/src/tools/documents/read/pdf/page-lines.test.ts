import { expect, test } from "bun:test";
import { columnsOf, inColumns, isUnder } from "./page-columns.ts";
import { linesOf, type TextLine, type TextPiece } from "./page-lines.ts";

/** A piece of text of ten points, six points a letter. */
const at = (x: number, y: number, text: string, height = 10): TextPiece => ({
  ...{ text, x, y, height },
  width: text.length * 6,
});
const cellsOf = (...pieces: readonly TextPiece[]) =>
  linesOf(pieces).map(({ cells }) => cells.map(({ text }) => text).join("|"));

test.each<[string, readonly TextPiece[], readonly string[]]>([
  ["on a baseline", [at(0, 100, "ab"), at(12, 104, "cd")], ["abcd"]],
  ["on another baseline", [at(0, 100, "ab"), at(12, 95.9, "cd")], ["ab", "cd"]],
  ["a large letter beside a small one", [at(0, 100, "ab", 20), at(12, 92, "cd", 5)], ["abcd"]],
  ["a small letter beside a large one", [at(0, 100, "ab", 5), at(12, 92, "cd", 20)], ["abcd"]],
  ["as close as letters", [at(0, 100, "ab"), at(13.5, 100, "cd")], ["abcd"]],
  ["as far as words", [at(0, 100, "ab"), at(14, 100, "cd"), at(34.5, 100, "ef")], ["ab cd ef"]],
  ["further than words", [at(0, 100, "ab"), at(21, 100, "cd")], ["ab|cd"]],
  ["as far as words of the largest letters", [at(0, 100, "ab", 20), at(28, 100, "cd", 10)], ["ab cd"]],
  ["a blank between them", [at(0, 100, "ab"), at(12, 100, " "), at(14, 100, "cd")], ["ab cd"]],
  ["a blank far away", [at(0, 100, "ab"), at(20.5, 100, " "), at(22, 100, "cd")], ["ab|cd"]],
  ["a blank on another line", [at(0, 100, "ab"), at(12, 90, " "), at(12, 100, "cd")], ["abcd"]],
  ["a blank at first", [at(0, 100, " "), at(12, 100, "cd")], ["cd"]],
  ["a little to the left", [at(50, 100, "ab"), at(40, 100, "cd")], ["abcd"]],
  ["far to the left", [at(50, 100, "ab"), at(39.9, 100, "cd")], ["ab", "cd"]],
])("pieces of text that are %s are told apart or joined as a reader would", (_, pieces, expected) => {
  expect(cellsOf(...pieces)).toEqual([...expected]);
});

test("a line is as high as its largest letters, and a cell reaches from its first piece to its last", () => {
  const [line] = linesOf([at(5, 100, "ab", 10), at(19, 100, "cd", 12), at(90, 100, "e", 8)]);
  expect(line).toEqual({
    ...{ y: 100, height: 12 },
    cells: [
      { text: "ab cd", left: 5, right: 31 },
      { text: "e", left: 90, right: 96 },
    ],
  });
});

const lineOf = (...cells: readonly (readonly [text: string, left: number, right: number])[]): TextLine => ({
  ...{ y: 0, height: 10 },
  cells: cells.map(([text, left, right]) => ({ text, left, right })),
});
const columns = [
  { left: 0, right: 20 },
  { left: 50, right: 70 },
  { left: 100, right: 120 },
];

test("columns are as wide as the widest of their cells to either side", () => {
  const rows = [lineOf(["a", 5, 10], ["b", 50, 60]), lineOf(["c", 2, 8], ["d", 55, 70])];
  expect(columnsOf(rows)).toEqual([
    { left: 2, right: 10 },
    { left: 50, right: 70 },
  ]);
});

test.each<[TextLine, boolean, readonly string[]]>([
  [lineOf(["a", 0, 9], ["b", 50, 60], ["c", 100, 110]), true, ["a", "b", "c"]],
  [lineOf(["a", 15, 40], ["c", 110, 140]), true, ["a", "", "c"]],
  [lineOf(["b", 60, 61]), true, ["", "b", ""]],
  // Over two columns: in that which it shares more of.
  [lineOf(["b", 15, 69]), false, ["", "b", ""]],
  // Two over one.
  [lineOf(["a", 0, 5], ["b", 8, 19]), false, ["a b", "", ""]],
  // Over none: in the nearest.
  [lineOf(["b", 75, 80]), false, ["", "b", ""]],
  [lineOf(["c", 95, 99]), false, ["", "", "c"]],
  [lineOf(["b", 20, 50]), false, ["b", "", ""]],
  [lineOf(["b", 20, 30]), false, ["b", "", ""]],
])("the cells of %j are each under one column of its own: %p; by column they are %j", (line, under, texts) => {
  expect(isUnder(line, columns)).toBe(under);
  expect(inColumns(line, columns)).toEqual([...texts]);
});
