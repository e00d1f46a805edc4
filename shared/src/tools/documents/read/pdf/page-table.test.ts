import { expect, test } from "bun:test";
import type { TextLine } from "./page-lines.ts";
import { tableAt } from "./page-table.ts";
import { headLines, stackedHead } from "./page-table-head.ts";

/** A line of ten points: texts by their left edges, six points a letter. */
const line = (y: number, cells: Readonly<Record<number, string>>): TextLine => ({
  ...{ y, height: 10 },
  cells: Object.entries(cells).map(([left, text]) => ({
    text,
    left: Number(left),
    right: Number(left) + 6 * text.length,
  })),
});
const columnsFor = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ left: at * 100, right: at * 100 + 60 }));
const columns = columnsFor(3);
const words = (y: number) => line(y, { 0: "one", 100: "two", 200: "three" });
const figures = (y: number) => line(y, { 0: "January", 100: "1,200", 200: "7" });
/** How many of these rows are lines of the table's header. */
const heads = (...rows: readonly TextLine[]) => headLines({ rows, columns }).length;

test("lines of a header are closer to each other than to the first row", () => {
  expect(heads(words(100), words(88), words(73.6))).toBe(2);
  expect(heads(words(100), words(88), words(73.7))).toBe(1);
  expect(heads(words(112), words(100), words(88), words(70))).toBe(3);
  expect(heads(words(124), words(112), words(100), words(88), words(70))).toBe(1);
  expect(heads(words(100), words(85), words(60))).toBe(2);
  expect(heads(words(100), words(84), words(60))).toBe(1);
  // All rows are never its header.
  expect(heads(words(100), words(88))).toBe(1);
});

test.each([
  ...["7", "1,200", "1.5", "-5", "−5", "+5", "(1 200)", "€ 5", "5 €", "$1'200", "12 %", "12%"].map(
    (text) => [text, 1] as const,
  ),
  ...["Q1", "5a", "1-2", "%", "no. 5"].map((text) => [text, 2] as const),
])("a line with %s leaves %d lines to the header", (text, count) => {
  expect(heads(words(100), line(88, { 0: text, 100: "b", 200: "c" }), words(60))).toBe(count);
});

test("a line over two columns is none of a header", () => {
  expect(heads(words(100), line(88, { 0: "from here to there and on" }), words(60))).toBe(1);
});

test("a header whose first line leaves out the first column is one above figures", () => {
  const raised = line(100, { 100: "Amount", 200: "Units" });
  const below = (cells: Readonly<Record<number, string>>) => line(88, cells);
  const all = { 0: "Month", 100: "in EUR", 200: "sold" };
  expect(heads(raised, below(all), figures(76))).toBe(2);
  expect(heads(raised, below(all), words(76))).toBe(1);
  expect(heads(raised, below({ 100: "in EUR", 200: "sold" }), figures(76))).toBe(1);
  expect(heads(words(100), below(all), figures(76))).toBe(1);
  // A column of figures holds nothing else, and something.
  const mixed = [line(76, { 0: "a", 100: "5", 200: "b" }), line(64, { 0: "c", 100: "none", 200: "7" })];
  expect(heads(raised, below(all), ...mixed)).toBe(1);
  expect(heads(raised, below(all), line(76, { 0: "a", 100: "b" }))).toBe(1);
});

const rows = [figures(640), figures(622)];
const stacked = (above: readonly TextLine[], own = rows, of = columns) =>
  stackedHead(above, { rows: own, columns: of });
const month = line(666, { 0: "Month" });
const amount = [line(672, { 100: "Amount" }), line(660, { 100: "in EUR" })];

test("lines above figures, written column by column, are a header where some column has several", () => {
  const above = [month, ...amount];
  expect(stacked(above)).toEqual(above);
  expect(stacked([line(672, { 0: "Month" }), line(667, { 100: "EUR" }), line(662, { 200: "Units" })])).toBeUndefined();
  expect(stacked([month, ...amount, line(672, { 0: "all of these columns" })])).toBeUndefined();
  expect(stacked([month, line(672, { 100: "5" }), line(660, { 100: "EUR" })])).toBeUndefined();
  // Too far from each other, and too far above the rows.
  expect(stacked([month, line(676, { 100: "Amount" }), line(660, { 100: "in EUR" })])).toBeUndefined();
  const high = (top: number) => [month, ...[0, 14, 28].map((down) => line(top - down, { 100: "x" }))];
  expect([stacked(high(700))?.length, stacked(high(701))]).toEqual([4, undefined]);
  // On a level with the first row.
  expect(stacked([month, ...amount, line(644, { 200: "Units" })])).toBeUndefined();
});

test("a header is over at least two columns and half of all", () => {
  const two = [month, ...amount];
  expect(stacked(amount)).toBeUndefined();
  expect(stacked(amount, rows, columnsFor(2))).toBeUndefined();
  expect([stacked(two, rows, columnsFor(4)), stacked(two, rows, columnsFor(5))]).toEqual([two, undefined]);
});

test("a first row of words above figures is the last line of the header, unless what is above it is a caption", () => {
  const first = line(660, { 0: "month", 100: "in EUR", 200: "sold" });
  const own = [first, figures(640), figures(622)];
  const over = line(672, { 100: "Amount" });
  expect(stacked([over], own)).toEqual([over, first]);
  expect(stacked([line(672, { 0: "Sales" })], own)).toBeUndefined();
  const beside = line(660, { 200: "sold" });
  const short = line(660, { 0: "month", 100: "in EUR" });
  expect(stacked([over, beside], [short, figures(640), figures(622)])).toEqual([over, beside, short]);
});

/** The table that begins with the first of these lines. */
const table = (...lines: readonly TextLine[]) => tableAt(lines, 0);

test("rows of a table follow each other downwards, not too far apart", () => {
  expect(table(figures(100), figures(65.1))?.lines).toBe(2);
  expect(table(figures(100), figures(65))).toBeUndefined();
  expect(table(figures(100), figures(110))).toBeUndefined();
  expect(table(figures(100))).toBeUndefined();
  expect(table(figures(100), figures(86), line(72, { 0: "end" }))?.lines).toBe(2);
});

const part = (y: number) => line(y, { 0: "5", 200: "6" });

test("half of a table's rows are full, or only the first, with the others below it", () => {
  expect(table(figures(100), figures(86), part(72), part(58))?.lines).toBe(4);
  expect(table(figures(100), figures(86), part(72), part(58), part(44))).toBeUndefined();
  expect(table(figures(100), part(86), part(72))?.lines).toBe(3);
  expect(table(part(100), figures(86), part(72))).toBeUndefined();
  expect(table(figures(100), part(86), line(72, { 0: "5", 120: "over two of them" }))).toBeUndefined();
});

test("the lines of a header are read from above, whatever their order, and belong to the table", () => {
  const [high, low] = amount as [TextLine, TextLine];
  for (const above of [
    [month, high, low],
    [month, low, high],
  ]) {
    const found = tableAt([...above, ...rows, line(600, { 0: "end" })], 0);
    expect(found).toEqual({
      markdown: "| Month | Amount in EUR |  |\n| --- | --- | --- |\n| January | 1,200 | 7 |\n| January | 1,200 | 7 |",
      lines: 5,
    });
  }
});
