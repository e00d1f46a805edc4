import { expect, test } from "bun:test";
import { ansiPieces } from "./pages/run/render/ansi.ts";
import { diffOf, readDiff } from "./pages/run/render/diff-lines.ts";
import { isFigures, readCsv, readTable } from "./pages/run/render/read-table.ts";

test("a terminal's colours become classes, its other controls disappear, and a carriage return begins the line anew", () => {
  expect(ansiPieces("\u001b[1;31mred\u001b[0m plain\u001b[2K\u001b]0;title\u0007")).toEqual([
    { text: "red", class: "a1 bold" },
    { text: " plain", class: "" },
  ]);
  expect(ansiPieces("10 %\r99 %\r\ndone")).toEqual([{ text: "99 %\ndone", class: "" }]);
  expect(ansiPieces("\u001b[38;5;31mx\u001b[38;2;1;31;1my")).toEqual([
    { text: "x", class: "" },
    { text: "y", class: "" },
  ]);
});

test("a replacement is shown as lines taken and added, with their numbers", () => {
  const { lines } = diffOf("a.py", "one\ntwo\n", "one\n2\nthree");
  expect(lines.map(({ kind, number, text }) => `${kind} ${number} ${text}`)).toEqual([
    "same 1 one",
    "del 2 two",
    "add 2 2",
    "add 3 three",
  ]);
  expect(diffOf("a", "", "new").lines).toEqual([{ kind: "add", number: 1, text: "new" }]);
});

test("patches as git and as models write them are read; other texts are none", () => {
  const git = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -4,2 +4,2 @@ def f\n same\n-old\n+new\n@@ -9 +9 @@\n-a\n+b\n";
  expect(readDiff(git)).toEqual([
    {
      name: "x",
      lines: [
        { kind: "same", number: 4, text: "same" },
        { kind: "del", number: 5, text: "old" },
        { kind: "add", number: 5, text: "new" },
        { kind: "gap", number: undefined, text: "" },
        { kind: "del", number: 9, text: "a" },
        { kind: "add", number: 9, text: "b" },
      ],
    },
  ]);
  const patch = "*** Begin Patch\n*** Update File: src/y.ts\n@@\n-a\n+b\n*** End Patch";
  expect(readDiff(patch)).toMatchObject([{ name: "src/y.ts", lines: [{ kind: "del" }, { kind: "add" }] }]);
  expect(readDiff("- a list\n+ of things")).toEqual([]);
});

test("a table of our tools is read with what stands around it, without its row of types", () => {
  const text = "2 rows\nregion | revenue\nVARCHAR | DECIMAL(12, 2)\nEast | 21,317.35\nWest | NULL\nThat is all.";
  const table = readTable(text);
  expect(table).toEqual({
    before: "2 rows",
    head: ["region", "revenue"],
    rows: [
      ["East", "21,317.35"],
      ["West", "NULL"],
    ],
    after: "That is all.",
  });
  expect([isFigures(table?.rows ?? [], 0), isFigures(table?.rows ?? [], 1)]).toEqual([false, true]);
  expect(readTable("nothing | here\nbut text")).toBeUndefined();
});

test("a table as Markdown writes it, which other servers' tools do, is read without its bars and its line", () => {
  const text = "Found:\n| region | sum |\n|:---|---:|\n| north | 150 |\n| south |  |";
  expect(readTable(text)).toEqual({
    before: "Found:",
    head: ["region", "sum"],
    rows: [
      ["north", "150"],
      ["south", ""],
    ],
    after: "",
  });
});

test("CSV is read with quotes, line ends in fields and a bound", () => {
  expect(readCsv('a,b\r\n"1, ""one""","x\ny"\n2,', 9)).toEqual([
    ["a", "b"],
    ['1, "one"', "x\ny"],
    ["2", ""],
  ]);
  expect(readCsv("a\nb\nc\n", 2)).toEqual([["a"], ["b"]]);
});
