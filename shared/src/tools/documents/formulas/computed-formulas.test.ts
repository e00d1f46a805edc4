import { expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { makeWorkbook } from "../write/make-workbook.ts";
import { writeWorkbook } from "../write/write-workbook.ts";

type Rows = (string | number | boolean | null)[][];

/**
 * What is told of sheets that are written, and what each cell with a formula holds as it is read
 * back.
 */
async function written(sheets: Readonly<Record<string, Rows>>, formats = {}) {
  const toWrite = Object.entries(sheets).map(([name, rows]) => ({ name, rows, plain: false, formats }));
  const { content, told } = await makeWorkbook(toWrite);
  const read = await readXlsx(content);
  const results = read.sheets.flatMap(({ name, rows, cells }) =>
    [...(cells ?? [])].flatMap(([place, { formula }]) => {
      const [row = 0, column = 0] = place.split(",").map(Number);
      return formula === undefined ? [] : [[`${name}!${place}`, rows[row]?.[column]]];
    }),
  );
  return { told, results: Object.fromEntries(results) };
}

test("what formulas give is stored to the last digit, over sheets, dates, texts and truths", async () => {
  const { told, results } = await written(
    {
      "O'Neil": [
        ["Item", "EUR", "Share"],
        ["Rope", 2.5, "=B2/B$4"],
        ["Hook", "1.234,50 €", "=B3/B$4"],
        ["Sum", "=SUM(B2:B3)", '=A3&"s"'],
      ],
      Days: [
        ["Day", "Later"],
        ["2026-01-31", "=A2+1"],
        ["'12", '=A3&""'],
        [true, "=NOT(A4)"],
        [null, "='O''Neil'!B4*2"],
      ],
    },
    { B: "0.00" },
  );
  expect(results).toEqual({
    "O'Neil!1,2": 2.5 / 1237,
    "O'Neil!2,2": 1234.5 / 1237,
    "O'Neil!3,1": 1237,
    "O'Neil!3,2": "Hooks",
    "Days!1,1": 46_054,
    "Days!2,1": "12",
    "Days!3,1": false,
    "Days!4,1": 2474,
  });
  // Only what no other formula uses, in its format; texts are not repeated.
  expect(told).toEndWith(
    " Formulas give O'Neil!C2 = 0.00202101859337, O'Neil!C3 = 0.997978981407, O'Neil!C4 = a text, Days!B2 = 46054.00, Days!B3 = a text, Days!B4 = FALSE, Days!B5 = 2474.00.",
  );
});

test("errors are told and not stored; of functions that are not known the program that opens it computes", async () => {
  const rows = [["n"], ["=1/0"], ["=A2+1"], ["=AGGREGATE(9,6,B1:B2)"], ["=Gone!A1"]];
  const { told, results } = await written({ S: rows });
  expect(results).toEqual({ "S!1,0": null, "S!2,0": null, "S!3,0": null, "S!4,0": null });
  expect(told).toEndWith(
    " Formulas that give an error: S!A2 #DIV/0!, S!A3 #DIV/0!, S!A5 #REF!. Computed only when it is opened: S!A4; check them by computing yourself.",
  );
});

test("no value is made of what is not known: neither by a formula that hides the error nor by those that read it", async () => {
  const rows = [
    ["n", "m"],
    [1, "=IFERROR(AGGREGATE(9,6,A2),7)"],
    [2, "=B2+1"],
    [3, "=A3*2"],
    ["=A2:A4*2", "=SUM(A4)"],
  ];
  const { told, results } = await written({ S: rows });
  expect(results).toEqual({ "S!1,1": null, "S!2,1": null, "S!3,1": 4, "S!4,0": null, "S!4,1": 3 });
  expect(told).toContain(" Computed only when it is opened: S!B2, S!B3, S!A5;");
});

test("of a workbook that takes long nothing is computed, and it is written", async () => {
  const wide = [["n"], ...Array.from({ length: 30_000 }, () => [1]), ["=A2"]];
  const often = [["n", "m"], ...Array.from({ length: 2_000 }, () => [1, "=SUM(A$2:A$2001)"])];
  for (const rows of [wide, often]) {
    const { told, results } = await written({ S: rows });
    expect(told).toContain(" Computed only when it is opened: S!");
    expect(Object.values(results).every((value) => value === null)).toBe(true);
  }
});

test("a formula on which the engine gives up leaves the workbook as it was asked for", async () => {
  const rows = [["n"], [`=${"1+".repeat(3_000)}1`], ["=1+1"]];
  const request = { sheets: [{ name: "S", formats: {}, rows }], page: false };
  const { told } = await writeWorkbook(request, AbortSignal.timeout(60_000));
  expect(told).toBe(
    '"S" (3 rows, 2 formulas). Computed only when it is opened: S!A2, S!A3; check them by computing yourself.',
  );
});
