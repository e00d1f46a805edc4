import { expect, test } from "bun:test";
import type { TextPiece } from "./page-lines.ts";
import { pageMarkdown } from "./page-markdown.ts";

const size = 10;
/** A piece of text of ten points, six points a letter. */
const at = (x: number, y: number, text: string, height = size): TextPiece => ({
  text,
  x,
  y,
  width: text.length * 0.6 * height,
  height,
});

test("lines with aligned gaps are a table, also with a cell missing; numbers may end where others do", () => {
  const pieces = [
    at(50, 700, "Sales by month of the year were as follows."),
    ...[at(50, 680, "Month"), at(150, 680, "EUR"), at(250, 680, "Units")],
    ...[at(50, 666, "January"), at(138, 666, "1,200"), at(262, 666, "7")],
    ...[at(50, 652, "February"), at(262, 652, "9")],
    at(50, 620, "That is all there is."),
  ];
  expect(pageMarkdown(pieces)).toBe(
    [
      "Sales by month of the year were as follows.",
      "",
      "| Month | EUR | Units |",
      "| --- | --- | --- |",
      "| January | 1,200 | 7 |",
      "| February |  | 9 |",
      "",
      "That is all there is.",
    ].join("\n"),
  );
});

test("a header that is centred over its columns belongs to the table, also with a column that is empty", () => {
  const pieces = [
    ...[at(60, 680, "Item"), at(140, 680, "Amount"), at(250, 680, "Note")],
    ...[at(50, 666, "Lamp"), at(152, 666, "12")],
    ...[at(50, 652, "Arm chair"), at(158, 652, "7")],
  ];
  expect(pageMarkdown(pieces)).toBe(
    "| Item | Amount | Note |\n| --- | --- | --- |\n| Lamp | 12 |  |\n| Arm chair | 7 |  |",
  );
  const apart = [
    ...[at(50, 680, "Left"), at(200, 680, "Centre"), at(350, 680, "Right")],
    ...[at(50, 666, "Key"), at(280, 666, "value")],
    ...[at(50, 652, "Other"), at(280, 652, "one")],
  ];
  expect(pageMarkdown(apart)).toBe("Left  Centre  Right\n\n| Key | value |\n| --- | --- |\n| Other | one |");
});

test("the lines of a header are one row, written line by line or column by column", () => {
  const body = [
    ...[at(50, 640, "January"), at(150, 640, "1,200"), at(250, 640, "7")],
    ...[at(50, 622, "February"), at(150, 622, "900"), at(250, 622, "12")],
  ];
  const rows = "\n| --- | --- | --- |\n| January | 1,200 | 7 |\n| February | 900 | 12 |";
  const full = [
    ...[at(50, 672, "Sales"), at(150, 672, "Amount"), at(250, 672, "Units")],
    ...[at(50, 660, "month"), at(150, 660, "in EUR"), at(250, 660, "sold")],
  ];
  expect(pageMarkdown([...full, ...body])).toBe(`| Sales month | Amount in EUR | Units sold |${rows}`);
  const raised = [
    ...[at(150, 676, "Amount"), at(250, 676, "Units")],
    ...[at(50, 658, "Month"), at(150, 658, "in EUR"), at(250, 658, "sold")],
  ];
  expect(pageMarkdown([...raised.slice(0, 2).map((one) => ({ ...one, y: 672 })), ...raised.slice(2), ...body])).toBe(
    `| Month | Amount in EUR | Units sold |${rows}`,
  );
  const byColumn = [
    at(50, 666, "Month"),
    ...[at(150, 672, "Amount"), at(150, 660, "in EUR")],
    ...[at(250, 672, "Units"), at(250, 660, "sold")],
  ];
  expect(pageMarkdown([at(50, 700, "The year"), ...byColumn, ...body])).toBe(
    `The year\n\n| Month | Amount in EUR | Units sold |${rows}`,
  );
  const oneHigher = [at(150, 672, "Amount"), ...[at(50, 660, "Month"), at(150, 660, "in EUR"), at(250, 660, "Units")]];
  expect(pageMarkdown([...oneHigher, ...body])).toBe(`| Month | Amount in EUR | Units |${rows}`);
});

test("a row of words, a caption and a group of rows are no lines of a header", () => {
  const rows = (y: number) => [
    ...[at(50, y, "Name"), at(150, y, "Score")],
    ...[at(50, y - 14, "Anna"), at(150, y - 14, "none")],
    ...[at(50, y - 28, "Bob"), at(150, y - 28, "12")],
  ];
  const table = "| Name | Score |\n| --- | --- |\n| Anna | none |\n| Bob | 12 |";
  expect(pageMarkdown(rows(650))).toBe(table);
  expect(pageMarkdown([at(50, 666, "Game"), ...rows(650)])).toBe(`Game\n\n${table}`);
  const grouped = [
    ...[at(50, 650, "Name"), at(150, 650, "Score")],
    ...[at(50, 637, "Anna"), at(150, 637, "7")],
    ...[at(50, 618, "Bob"), at(150, 618, "12")],
  ];
  expect(pageMarkdown(grouped)).toBe("| Name | Score |\n| --- | --- |\n| Anna | 7 |\n| Bob | 12 |");
});

test("one line with a gap is text, as are columns that were written one after the other", () => {
  expect(pageMarkdown([at(50, 700, "Page"), at(300, 700, "12")])).toBe("Page  12");
  const columns = [
    at(50, 700, "left one"),
    at(50, 688, "left two"),
    at(300, 700, "right one"),
    at(300, 688, "right two"),
  ];
  expect(pageMarkdown(columns)).toBe("left one\nleft two\n\nright one\nright two");
});

test("a heading has up to 150 letters, and is larger than most of the letters are", () => {
  const long = (length: number) => [at(0, 700, "x".repeat(length), 20), at(0, 660, "y".repeat(999))];
  expect(pageMarkdown(long(150))).toStartWith("# x");
  expect(pageMarkdown(long(151))).toStartWith("x");
  const short = [at(0, 700, "a", 20), at(0, 670, "b", 20), at(0, 640, "c", 20), at(0, 610, "the text of the page")];
  expect(pageMarkdown(short)).toBe("# a\n\n# b\n\n# c\n\nthe text of the page");
});

test("a heading over several lines is one; what is further down, smaller, numbered or a row of its own begins another", () => {
  const text = at(0, 500, "The text of the page. ".repeat(20));
  const heading = (...lines: (readonly [down: number, text: string, height?: number])[]) => {
    let y = 700;
    const made = lines.map(([down, line, height = 20]) => {
      y -= down;
      return at(0, y, line, height);
    });
    return pageMarkdown([...made, text])
      .split("\n\n")
      .slice(0, -1);
  };
  expect(heading([0, "How the harbours of the north"], [24, "were built in a"], [24, "century"])).toEqual([
    "# How the harbours of the north were built in a century",
  ]);
  expect(heading([0, "About self-"], [24, "service"])).toEqual(["# About self-service"]);
  expect(heading([0, "Harbours"], [30, "Built"])).toEqual(["# Harbours", "# Built"]);
  expect(heading([0, "Harbours"], [20, "of the north", 15])).toEqual(["# Harbours", "## of the north"]);
  for (const own of ["2 Ships", "2.1 Ships", "II. Ships", "b) Ships", "• Ships", "Chapter Two"])
    expect(heading([0, "1 Harbours"], [24, own])).toEqual(["# 1 Harbours", `# ${own}`]);
  const [long, more] = ["x".repeat(100), "y".repeat(49)];
  expect(heading([0, long], [24, more])).toEqual([`# ${long} ${more}`]);
  expect(heading([0, long], [24, `${more}y`])).toEqual([`# ${long}`, `# ${more}y`]);
  const row = [at(0, 700, "Harbours", 20), at(0, 676, "Ships", 20), at(200, 676, "12", 20), text];
  expect(pageMarkdown(row)).toStartWith("# Harbours\n\n# Ships  12");
});

test("a line further down than the next would be begins a paragraph", () => {
  expect(pageMarkdown([at(0, 700, "one"), at(0, 684, "two"), at(0, 667.9, "three")])).toBe("one\ntwo\n\nthree");
});

test("large short lines are headings, distant lines are apart, and parts of a word stay together", () => {
  const pieces = [
    at(50, 740, "Report", 20),
    at(50, 715, "Part one", 14),
    ...[at(50, 700, "The first "), at(110, 700, "li"), at(122, 700, "ne of it")],
    at(50, 688, "and the second."),
    at(50, 660, "Another paragraph."),
  ];
  expect(pageMarkdown(pieces)).toBe(
    "# Report\n\n## Part one\n\nThe first line of it\nand the second.\n\nAnother paragraph.",
  );
});
