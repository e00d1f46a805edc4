import { expect, test } from "bun:test";
import { circleIn, type PlacedFormula, readersOf } from "./formula-dependencies.ts";

const cells = (formulas: Readonly<Record<string, string>>): PlacedFormula[] =>
  Object.entries(formulas).map(([place, formula]) => {
    const [, sheet = "", letter = "", row] = /^(.*)!([A-Z])(\d+)$/.exec(place) ?? [];
    return { sheet, column: letter.charCodeAt(0) - 64, row: Number(row), formula };
  });

test.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
  ["a cell that sums itself", { "S!B4": "SUM(B2:B4)" }, ["S!B4", "S!B4"]],
  ["two cells", { "S!A1": "$B$1*2", "S!B1": "A1+1" }, ["S!A1", "S!B1", "S!A1"]],
  ["a range from its end", { "S!B3": "SUM(B4:B2)" }, ["S!B3", "S!B3"]],
  ["a range from its right", { "S!B1": "SUM(C1:A1)" }, ["S!B1", "S!B1"]],
  ["a whole column", { "S!A9": "SUM(A:A)" }, ["S!A9", "S!A9"]],
  ["two sheets", { "First!A1": "'My ''own'''!B2", "My 'own'!B2": "first!a1" }, ["First!A1", "My 'own'!B2", "First!A1"]],
])("a circle is found in %s", (_, formulas, circle) => {
  expect(circleIn(cells(formulas))).toEqual(circle);
});

test.each([
  [{ "S!B4": "SUM(B2:B3)", "S!B5": "B4*2", "S!C5": "SUM(B2:B5)" }],
  [{ "S!B4": "Other!B4+1" }],
  [{ "S!A3": "SUM(B1:C9)", "S!D3": "SUM(B1:C9)", "S!B10": "SUM(B1:C9)" }],
  [{ "S!B1": "SUM(B2:B9)", "S!C1": "SUM(A2:D9)" }],
  [{ "S!A1": "B1+C1", "S!B1": "D1", "S!C1": "D1+B1", "S!D1": "1" }],
  [{ "S!A10": "LOG10(B1)", "S!B4": '"B4 of "&A1', "S!C4": "ROW(C4)" }],
  [{ "S!A1": "total+A_1" }],
])("none is found where there is none: %j", (formulas) => {
  expect(circleIn(cells(formulas))).toBeUndefined();
});

test("a column of ten thousand running sums is looked through at once", () => {
  const running = Array.from({ length: 10_000 }, (_, at) => ({
    sheet: "S",
    column: 3,
    row: at + 2,
    formula: `C${at + 1}+B${at + 2}`,
  }));
  expect(circleIn(running)).toBeUndefined();
  expect(circleIn([...running, { sheet: "S", column: 2, row: 2, formula: "C10001" }])).toHaveLength(10_002);
});

test("who reads a formula, over others too and in any sheet, is found; who reads the same place of another sheet is not", () => {
  const all = cells({
    "S!A1": "NOW()",
    "S!B1": "A1+1",
    "Other!C1": "SUM(S!B1:B9)",
    "Other!B1": "A1",
    "Other!D1": "B1*2",
  });
  const some = new Set(all.slice(0, 1));
  expect([...readersOf(some, all)].map(({ sheet, column }) => [sheet, column])).toEqual([
    ["S", 1],
    ["S", 2],
    ["Other", 3],
  ]);
});
