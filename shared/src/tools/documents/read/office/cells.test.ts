import { expect, test } from "bun:test";
import type { Cell, CellValue } from "hucre/xlsx";
import { cellText } from "./cell-text.ts";
import { sheetChoice } from "./sheet-choice.ts";
import { uncalculatedNote } from "./uncalculated.ts";

const time = (text: string) => new Date(`${text}Z`);
test.each<[CellValue, Partial<Cell> | undefined, string]>([
  [null, undefined, ""],
  [0, undefined, "0"],
  [false, undefined, "false"],
  ["a", undefined, "a"],
  [time("2024-02-29T00:00:00"), undefined, "2024-02-29"],
  [time("2024-02-29T13:00:00"), undefined, "2024-02-29 13:00:00"],
  [time("2024-02-29T00:00:00.500"), undefined, "2024-02-29 00:00:00.500Z"],
  [new Date(Number.NaN), undefined, "(no date)"],
  [null, { formula: "A1*2", formulaResult: 0 }, "0 (=A1*2)"],
  [null, { formula: "=A1*2" }, "(=A1*2)"],
  [null, { formula: "A1&A2", formulaResult: "" }, '"" (=A1&A2)'],
  [5, { formula: "A1*2", value: 5 }, "5 (=A1*2)"],
  [7, { formula: "A1*2", formulaResult: 8 }, "8 (=A1*2)"],
  ["a", { comment: { text: " why? " } }, "a [comment: why?]"],
  [1, { formula: "A1", formulaResult: 1, comment: { text: "c" } }, "1 (=A1) [comment: c]"],
  ["x".repeat(1_000), undefined, "x".repeat(1_000)],
  ["x".repeat(1_001), undefined, `${"x".repeat(1_000)}…`],
  [`${"x".repeat(999)}😀`, undefined, `${"x".repeat(999)}\ufffd…`],
])("a cell with %j and %j reads %p", (value, cell, text) => {
  expect(cellText(value, cell as Cell | undefined)).toBe(text);
});

const names = ["Sales", "Q1", "#1", "My own!", "it's"];
const all = { left: 0, right: 16_383, top: 0, bottom: 1_048_575 };
const square = { left: 1, right: 2, top: 3, bottom: 4 };
test.each<[string | undefined, number, number, object]>([
  [undefined, 0, 4, all],
  ["  ", 0, 4, all],
  ["Sales", 0, 0, all],
  [" Sales ", 0, 0, all],
  ["'Sales'", 0, 0, all],
  // A sheet's name goes before a cell's and a number.
  ["Q1", 1, 1, all],
  ["Q2", 0, 0, { left: 16, right: 16, top: 1, bottom: 1 }],
  ["#1", 2, 2, all],
  ["#2", 1, 1, all],
  ["#2-", 1, 4, all],
  ["#2-!B4:C5", 1, 4, square],
  ["#5", 4, 4, all],
  ["My own!!B4:C5", 3, 3, square],
  ["'My own!'!c5:b4", 3, 3, square],
  ["B5:C4", 0, 0, square],
  ["$B$4:$C$5", 0, 0, square],
  ["Sales! B4:C5 ", 0, 0, square],
  ["Sales!XFD1048576", 0, 0, { left: 16_383, right: 16_383, top: 1_048_575, bottom: 1_048_575 }],
])("the part %j of a workbook is its sheets %d to %d, and %j of them", (part, from, to, range) => {
  expect(sheetChoice(part, names)).toEqual({ from, to, range } as never);
});

test.each(["sales", "#6", "#0", "Sales!B4:", "Sales!B", "Sales!4", "Other!A1", "A1:B2:C3"])(
  "a workbook has no part %j",
  (part) => {
    expect(() => sheetChoice(part, names)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  },
);

test("of many sheets thirty are named, each on one line and not at length", () => {
  const many = Array.from({ length: 31 }, (_, at) => (at === 0 ? `a\nb${"x".repeat(50)}` : `n${at}`));
  const problem = (() => {
    try {
      sheetChoice("none", many);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  })();
  expect(problem).toContain(`#1 "a b${"x".repeat(36)}…", #2 "n1"`);
  expect(problem).toEndWith('#30 "n29".');
});

test("formulas without a value are counted by column, eight of which are named", () => {
  const note = (columns: number, each = 2) =>
    uncalculatedNote(
      {
        count: columns * each,
        byColumn: new Map(Array.from({ length: columns }, (_, at) => [at, each])),
        first: "B2",
      },
      ["price", "sum"],
    );
  expect(note(1, 1)).toStartWith(
    "1 cell has a formula without a stored value and is NULL here (price: 1; the first is B2). A spreadsheet program",
  );
  expect(note(3)).toStartWith(
    "6 cells have a formula without a stored value and are NULL here (price: 2, sum: 2, C: 2; the first is B2). ",
  );
  expect(note(8)).toContain("H: 2; the first");
  expect(note(10)).toContain("H: 2 and 2 more columns; the first");
});
