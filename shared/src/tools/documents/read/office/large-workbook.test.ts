import { expect, test } from "bun:test";
import { writeOds } from "hucre/ods";
import { writeXlsx } from "hucre/xlsx";
import { claimingZip } from "../../../../testing/documents.ts";
import { fitPieces } from "../fit-pieces.ts";
import { readWorkbook } from "./read-workbook.ts";
import { uncalculatedIn } from "./uncalculated.ts";

const sheets = [
  {
    name: "One",
    rows: [
      ["a", "b", "c"],
      [1, 2, 3],
      [null, null, null],
      [4, null, 6],
    ],
    cells: new Map([["1,2", { formula: "A2+B2", formulaResult: 3 }]]),
  },
  { name: "Two", rows: [["x"], ["y"]], hidden: true },
];
const large = ", large, so its formulas are not shown, and those without a stored value look empty";
const wholeBytes = 48 * 2 ** 20;

async function read(bytes: Uint8Array, part?: string, format: "xlsx" | "ods" = "xlsx") {
  return await fitPieces(await readWorkbook(format, bytes, part), { from: 0, characters: 10_000, pictures: 0 });
}
const rowsOf = (text: string) => text.split("\n").filter((line) => /^\| \d/.test(line));

test("a workbook that unpacks to more than 48 MB is read row by row, with the same cells but no formulas", async () => {
  const made = await writeXlsx({ sheets });
  const whole = await read(await claimingZip(made, wholeBytes));
  expect(whole.about).toBe("Excel workbook, 2 sheets");
  expect(whole.text).toContain("Sheets: #1 One, 4 rows; #2 Two (hidden), 2 rows");
  expect(whole.text).toContain("| 2 | 1 | 2 | 3 (=A2+B2) |");
  const bytes = await claimingZip(made, wholeBytes + 1);
  const { about, text, shown } = await read(bytes);
  expect(about).toBe(`Excel workbook, 2 sheets${large}`);
  expect(text).toStartWith("Sheets: #1 One; #2 Two (hidden)\n\n## Sheet #1 One\n");
  expect(text).toContain("## Sheet #2 Two (hidden)");
  expect(rowsOf(text)).toEqual([
    "| 1 | a | b | c |",
    "| 2 | 1 | 2 | 3 |",
    "| 4 | 4 |  | 6 |",
    "| 1 | x |",
    "| 2 | y |",
  ]);
  expect(shown).toEqual({ first: "#1 row 1", last: "#2 row 2" });
  expect(rowsOf((await read(bytes, "One!B2:C3")).text)).toEqual(["| 2 | 2 | 3 |"]);
  expect(rowsOf((await read(bytes, "One!C2:C4")).text)).toEqual(["| 2 | 3 |", "| 4 | 6 |"]);
  expect(rowsOf((await read(bytes, "#2")).text)).toEqual(["| 1 | x |", "| 2 | y |"]);
});

test("a large spreadsheet of OpenDocument is read row by row too", async () => {
  const bytes = await claimingZip(await writeOds({ sheets }), wholeBytes + 1);
  const { about, text } = await read(bytes, undefined, "ods");
  expect(about).toBe(`OpenDocument spreadsheet, 2 sheets${large}`);
  expect(rowsOf(text).slice(-2)).toEqual(["| 1 | x |", "| 2 | y |"]);
  expect(rowsOf((await read(bytes, "#1!A4:C4", "ods")).text)).toEqual(["| 4 | 4 |  | 6 |"]);
});

test("a workbook that claims to unpack to more than 2 GB is refused", async () => {
  const made = await writeXlsx({ sheets });
  await expect(read(await claimingZip(made, 2 ** 31 + 1))).rejects.toMatchObject({
    code: "too_large",
    message: "It unpacks to 2048 MB, more than the 2048 MB that are read.",
  });
});

test("the cells without a value are counted by column up to that size, and unknown above it", async () => {
  const cells = new Map([
    ["1,1", { formula: "A2" }],
    ["2,1", { formula: "A3", formulaResult: 0 }],
    ["3,0", { formula: "A2" }],
    ["3,1", { formula: "A4" }],
  ]);
  const rows = [["n", "m"], [1], [2], [null]];
  const made = await writeXlsx({ sheets: [{ name: "S", rows, cells }, ...sheets] });
  expect(await uncalculatedIn(await claimingZip(made, wholeBytes), "S")).toEqual({
    ...{ count: 3, first: "B2" },
    byColumn: new Map([
      [1, 2],
      [0, 1],
    ]),
  });
  expect(await uncalculatedIn(made, "One")).toBeUndefined();
  expect(await uncalculatedIn(await claimingZip(made, wholeBytes + 1), "S")).toBe("unknown");
});
