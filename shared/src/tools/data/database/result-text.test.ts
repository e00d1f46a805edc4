import { expect, test } from "bun:test";
import { checkCells, columnNames, textCounter } from "../foreign/foreign-table.ts";
import type { QueryResult } from "./database-protocol.ts";
import { cellText, csvText, textTable } from "./result-text.ts";
import { quoted } from "./table-of.ts";

const columns = (count: number, type = "T") => Array.from({ length: count }, (_, n) => ({ name: `c${n}`, type }));

test.each<[unknown, string]>([
  [null, "NULL"],
  [undefined, "NULL"],
  ["", ""],
  [0, "0"],
  [false, "false"],
  [{ a: [1] }, '{"a":[1]}'],
  ["a\r\n\nb\rc", "a⏎b⏎c"],
  ["x".repeat(120), "x".repeat(120)],
  ["x".repeat(121), `${"x".repeat(119)}…`],
])("a cell of %j is shown as %p", (value, text) => {
  expect(cellText(value)).toBe(text);
});

test("forty columns are shown, of more their number; and as many rows as asked for", () => {
  const row = (count: number) => Array.from({ length: count }, (_, n) => n);
  const lines = (count: number) =>
    textTable({ columns: columns(count), rows: [row(count), row(count)] }, 1).split("\n");
  expect(lines(40)[0]).toEndWith(" | c39");
  expect(lines(41)[0]).toEndWith(" | c39 | … 1 more column");
  expect(lines(41).map((line) => line.split(" | ").length)).toEqual([41, 40, 40]);
  expect(textTable({ columns: columns(1, "T".repeat(41)), rows: [] }, 1)).toBe(`c0\n${"T".repeat(39)}…`);
});

test("of few cells each is shown at length, of many none", () => {
  const text = "x".repeat(1_000);
  const longest = (rows: number, most: number) =>
    textTable({ columns: columns(3), rows: Array.from({ length: rows }, () => ["a", "b", text]) }, most)
      .split("\n")
      .at(-1)?.length;
  expect([longest(1, 50), longest(2, 50), longest(3, 50), longest(50, 50), longest(50, 2)]).toEqual([
    1_008, 1_008, 674, 128, 1_008,
  ]);
});

test.each<[QueryResult["rows"][number][number], string]>([
  [null, ""],
  ["", '""'],
  [0, "0"],
  ["a b", "a b"],
  ["a,b", '"a,b"'],
  ['a"b', '"a""b"'],
  ["a\rb", '"a\rb"'],
  ["a\nb", '"a\nb"'],
  [["x"], '"[""x""]"'],
])("the value %j is the field %p of a CSV file", (value, field) => {
  expect(csvText({ columns: columns(2), rows: [[value, "z"]] })).toBe(`c0,c1\r\n${field},z\r\n`);
});

test("a name of a column is written as a field too", () => {
  expect(csvText({ columns: [{ name: 'a,"b"', type: "T" }], rows: [] })).toBe('"a,""b"""\r\n');
});

test("columns have names that differ, whatever the file calls them", () => {
  expect(columnNames(["a", " A ", "", "a_2", "a", "  ", "column_3"])).toEqual([
    "a",
    "A_2",
    "column_3",
    "a_2_2",
    "a_3",
    "column_6",
    "column_3_2",
  ]);
});

test("as many cells, columns and characters as the limits allow are read, one more is not", () => {
  expect(() => checkCells(2_500, 2_000, "f")).not.toThrow();
  expect(() => checkCells(2_501, 2_000, "f")).toThrow("f has more than 5 million cells");
  expect(() => checkCells(1, 2_001, "f")).toThrow("f has more than 2000 columns");
  const mega = "x".repeat(2 ** 20);
  const count = textCounter("f");
  for (let n = 0; n < 255; n++) count([mega, null, 1]);
  count([new Uint8Array(2 ** 19), "x".repeat(2 ** 19)]);
  expect(() => count(["x"])).toThrow("f holds more than 256 MB of text.");
});

test("a name in quotes ends where it should", () => {
  expect([quoted("a'b'", "'"), quoted('a"b', '"'), quoted("a'b", '"')]).toEqual(["'a''b'''", '"a""b"', `"a'b"`]);
});
