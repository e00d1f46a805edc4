import { expect, test } from "bun:test";
import { readXlsx, type WriteOptions, writeXlsx } from "hucre/xlsx";
import { fitPieces } from "../fit-pieces.ts";
import { calculated } from "./calculated.ts";
import { readWorkbook } from "./read-workbook.ts";

type Cells = Readonly<Record<string, object>>;

/** A workbook as a program leaves it that writes formulas and computes nothing. */
async function workbook(
  sheets: Readonly<Record<string, readonly [rows: readonly (readonly unknown[])[], cells: Cells]>>,
  more: Partial<WriteOptions> = {},
): Promise<Uint8Array> {
  const made = Object.entries(sheets).map(([name, [rows, cells]]) => ({
    ...{ name, rows: rows as never, cells: new Map(Object.entries(cells)) },
  }));
  return await writeXlsx({ sheets: made, ...more });
}

const valuesOf = async (content: Uint8Array) => Object.fromEntries(await calculated(content));
async function read(content: Uint8Array) {
  return await fitPieces(await readWorkbook("xlsx", content, undefined), { from: 0, characters: 10_000, pictures: 0 });
}

test("a workbook without stored values is read with those that its formulas give, and the reader is told so", async () => {
  const content = await workbook({
    Sales: [
      [
        ["item", "units", "price", "sum"],
        ["pen", 3, 1.5],
        ["ink", 2, 4],
      ],
      { "1,3": { formula: "B2*C2" }, "2,3": { formula: "B3*C3" }, "3,3": { formula: "SUM(D2:D3)" } },
    ],
    Days: [
      [["due"], [new Date(Date.UTC(2026, 0, 5))]],
      { "1,0": { style: { numFmt: "yyyy-mm-dd" } }, "2,0": { formula: "A2+30", style: { numFmt: "yyyy-mm-dd" } } },
    ],
  });
  const { about, text } = await read(content);
  expect(about).toBe("Excel workbook, 2 sheets, 4 formulas without a stored value, computed here");
  expect(text).toContain("| 2 | pen | 3 | 1.5 | 4.5 (=B2*C2) |");
  expect(text).toContain("| 4 |  |  |  | 12.5 (=SUM(D2:D3)) |");
  expect(text).toContain("| 3 | 2026-02-04 (=A2+30) |");
});

test("names, other sheets, truths, texts and errors are computed as a spreadsheet program does", async () => {
  const content = await workbook(
    {
      "Net of": [[["Rate", 0.2], ["#DIV/0!"]], { "1,0": { value: "#DIV/0!", type: "error" } }],
      S: [
        [["n"], [10]],
        {
          "1,1": { formula: "A2*Rate" },
          "1,2": { formula: 'IF(B2>1,"Rate","no")' },
          "1,3": { formula: "'Net of'!A2+1" },
          "1,4": { formula: "IFERROR(D2,Half)" },
          "1,5": { formula: "B2=2" },
          "1,6": { formula: "SUM(All)" },
        },
      ],
    },
    {
      namedRanges: [
        { name: "Rate", range: "'Net of'!$B$1" },
        { name: "Half", range: "0.5" },
        { name: "All", range: "S!$A$2:$B$2" },
      ],
    },
  );
  expect(await valuesOf(content)).toEqual({
    ...{ "S!1,1": 2, "S!1,2": "Rate", "S!1,3": "#DIV/0!", "S!1,4": 0.5, "S!1,5": true, "S!1,6": 12 },
  });
});

test("what cannot be computed for certain stays without a value, and so does all that reads it, whatever hides the error", async () => {
  const content = await workbook(
    {
      S: [
        [["n"], [1], [2]],
        {
          "1,1": { formula: "AGGREGATE(9,6,A2:A3)" },
          "1,2": { formula: "IFERROR(B2,0)" },
          "1,3": { formula: "C2+1" },
          "1,4": { formula: "IFERROR(AGGREGATE(9,6,A2:A3),7)" },
          "1,5": { formula: "IFERROR(Moving,7)" },
          "1,6": { formula: "IFERROR([1]Other!A1,7)" },
          "1,7": { formula: 'INDIRECT("B2")' },
          "1,8": { formula: "A2+A3" },
          "1,9": { formula: "A2:A3*2", formulaType: "array", formulaRef: "J2:J3" },
          "1,10": { formula: "SUM(J2:J3)" },
        },
      ],
    },
    { namedRanges: [{ name: "Moving", range: "S!A1" }] },
  );
  expect(await valuesOf(content)).toEqual({ "S!1,8": 3 });
  const { about } = await read(content);
  expect(about).toContain(
    "1 sheet, 1 formula without a stored value, computed here, 9 formulas without a stored value (#1: 9).",
  );
});

test("of a formula that gives several cells none is taken: which one is its own depends on where it stands", async () => {
  const cells = {
    "2,2": { formula: "A2:A4*2" },
    "6,3": { formula: "SUM(C2:C6)" },
    "2,4": { formula: "SUM(A2:A4*2)" },
  };
  const content = await workbook({ S: [[["n"], [1], [2], [3]], cells] });
  expect(await valuesOf(content)).toEqual({ "S!2,4": 12 });
});

test("whole columns are read as far as a sheet goes, and what would tell how tall they are is not computed", async () => {
  const giving = async (formula: string) =>
    (await valuesOf(await workbook({ S: [[["n"], [1], [2], [3]], { "1,3": { formula } }] })))["S!1,3"];
  for (const [formula, value] of [
    ["SUM(A:A)", 6],
    ["SUMPRODUCT($A:$A,S!A$1:A$1048576)", 14],
    ["VLOOKUP(2,A:B,1,FALSE)", 2],
    ["INDEX(A:A,MATCH(3,A:A,0))", 3],
    ['COUNTIF(A:A,"A:A")', 0],
    ["SUM(A2:A3)", 3],
  ] as const)
    expect([formula, await giving(formula)]).toEqual([formula, value]);
  for (const formula of ["ROWS(A:A)", "COUNTBLANK(A2:A9999)", "SUM(2:3)", "SUM(OFFSET(A1,1,0))", "INDEX(A:A,9)"])
    expect([formula, await giving(formula)]).toEqual([formula, undefined]);
});

test("a stored value is what it was, also where a formula without one reads it", async () => {
  const stored = { formula: "1+1", formulaResult: 40 };
  const content = await workbook({ S: [[["n"]], { "1,0": stored, "1,1": { formula: "A2+2" } }] });
  expect(await valuesOf(content)).toEqual({ "S!1,1": 42 });
  const whole = await workbook({ S: [[["n"]], { "1,0": stored }] });
  expect(await valuesOf(whole)).toEqual({});
  expect((await read(whole)).about).toBe("Excel workbook, 1 sheet");
  expect((await readXlsx(whole)).sheets[0]?.rows[1]).toEqual([40]);
});

test("of a workbook that counts its days from 1904, or is too large to be computed in seconds, nothing is computed", async () => {
  const cells = { "1,1": { formula: "A2+1" } };
  expect(await valuesOf(await workbook({ S: [[["n"], [1]], cells] }, { dateSystem: "1904" }))).toEqual({});
  const rows = [["n"], ...Array.from({ length: 30_001 }, () => [1])];
  expect(await valuesOf(await workbook({ S: [rows, cells] }))).toEqual({});
  expect(await valuesOf(await workbook({ S: [[["n"], [1]], cells] }))).toEqual({ "S!1,1": 2 });
});
