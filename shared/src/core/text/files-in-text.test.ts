import { expect, test } from "bun:test";
import { filesToMake } from "./files-in-text.ts";

test.each([
  ["Write a summary into report.md.", ["report.md"]],
  ["Convert data.csv to out/data.json and chart.png!", ["data.csv", "out/data.json", "chart.png"]],
  ["把结果保存到 report.md。", ["report.md"]],
  ["Schreib es in bericht.md.", ["bericht.md"]],
  ["Look at data.csv. Then save totals.csv.", ["totals.csv"]],
  ["How do I write a package.json?", []],
  ["Explain how to create report.md.", []],
  ["What is wrong in main.py", []],
  ["Read notes.txt and tell me the date.", []],
  ["Write a haiku.", []],
  ["Find the sum.\n\nThe whole task:\n> Find the sum.\n> Write it into notes.md.", []],
  ["> Write notes.md.\nSave sums.csv, as he says.", ["sums.csv"]],
  ["Save what https://example.com/a.html says.", []],
  ["Save https://example.com/a.html as page.html.", ["page.html"]],
])("%p asks for %j to be made", (text, files) => {
  expect(filesToMake(text)).toEqual(files);
});

test("a long text is searched in time with its length, and only its beginning", () => {
  const words = ["a".repeat(1_000_000), "a.".repeat(500_000), "a/".repeat(500_000), "a-b.".repeat(250_000)];
  for (const word of words) expect(filesToMake(`Write x.md ${word}`)).toEqual(["x.md"]);
  expect(filesToMake(`${"word ".repeat(20_000)}Write x.md`)).toEqual([]);
  expect(filesToMake(`Write ./${"sub/".repeat(40)}x.md`)).toEqual([`${"sub/".repeat(40)}x.md`]);
});
