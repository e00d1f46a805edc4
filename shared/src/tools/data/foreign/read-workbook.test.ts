import { expect, test } from "bun:test";
import { type WriteSheet, writeXlsx } from "hucre/xlsx";
import { claimingZip } from "../../../testing/documents.ts";
import { readSheet, sheetsOf } from "./read-workbook.ts";

const made = (rows: WriteSheet["rows"], more: Partial<WriteSheet> = {}) =>
  writeXlsx({
    sheets: [
      { name: "S", rows: rows ?? [], ...more },
      { name: "Other", rows: [["other"]], hidden: true },
    ],
  });
const read = async (...of: Parameters<typeof made>) => await readSheet(await made(...of), "S", () => undefined);

test("the names of all sheets are told in their order, and which are hidden", async () => {
  expect(await sheetsOf(await made([]))).toEqual([
    { name: "S", hidden: false },
    { name: "Other", hidden: true },
  ]);
});

test.each<[string, NonNullable<WriteSheet["rows"]>, readonly string[], readonly unknown[]]>([
  [
    "a head of texts",
    [
      ["a", "b"],
      [1, "x"],
    ],
    ["a", "b"],
    [[1, "x"]],
  ],
  [
    "no head",
    [
      [1, "b"],
      [2, "x"],
    ],
    ["column_1", "column_2"],
    [
      [1, "b"],
      [2, "x"],
    ],
  ],
  [
    "a head with a gap",
    [
      ["a", null, "c"],
      [1, 2, 3],
    ],
    ["a", "column_2", "c"],
    [[1, 2, 3]],
  ],
  [
    "a row longer than its head",
    [
      ["a", "b"],
      [1, 2, 3],
    ],
    ["a", "b", "column_3"],
    [[1, 2, 3]],
  ],
  [
    "empty rows and texts",
    [
      ["a", "b"],
      [null, ""],
      [1, ""],
      ["", 2],
    ],
    ["a", "b"],
    [
      [1, null],
      [null, 2],
    ],
  ],
  ["titles", [["Title"], [], ["of May"], ["a", "b"], [1, 2]], ["a", "b"], [[1, 2]]],
  ["five titles", [["1"], ["2"], ["3"], ["4"], ["5"], ["a", "b"], [1, 2]], ["a", "b"], [[1, 2]]],
  [
    "merged cells above its names",
    [
      ["Report"],
      ["shop", "2025", null, 2026, null],
      [null, "sales", "visitors", "sales", "visitors"],
      ["Bonn", 1.5, 2, 3, 4],
    ],
    ["shop", "2025 sales", "2025 visitors", "2026 sales", "2026 visitors"],
    [["Bonn", 1.5, 2, 3, 4]],
  ],
  [
    "a gap in its head above texts",
    [
      ["a", null, "c"],
      ["x", "y", "z"],
      ["u", "v", "w"],
    ],
    ["a", "column_2", "c"],
    [
      ["x", "y", "z"],
      ["u", "v", "w"],
    ],
  ],
  [
    "a whole head above texts and numbers",
    [
      ["a", "b"],
      ["x", "n/a"],
      ["y", 2],
    ],
    ["a", "b"],
    [
      ["x", "n/a"],
      ["y", 2],
    ],
  ],
  ["one column", [["a"], ["x"], ["y"]], ["a"], [["x"], ["y"]]],
  ["only a head", [["a", "b"]], ["a", "b"], []],
])("a sheet with %s is a table", async (_, rows, columns, expected) => {
  const table = await read(rows);
  expect([table.columns, table.rows, table.notes]).toEqual([[...columns], expected as never, []]);
});

test("six rows of one cell above a table are no titles", async () => {
  const { columns, rows } = await read([["1"], ["2"], ["3"], ["4"], ["5"], ["6"], ["a", "b"]]);
  expect([columns, rows.length]).toEqual([["1", "column_2"], 6]);
});

test("a date beyond all calendars is told as none, and the rest of its column is read", async () => {
  const style = { numFmt: "yyyy-mm-dd" };
  const cells = new Map([
    ["1,0", { value: 1e12, style }],
    ["2,0", { value: 45_000, style }],
  ]);
  const { rows } = await read([["day"], [1e12], [45_000]], { cells });
  expect(rows).toEqual([["(no date)"], [new Date("2023-03-15T00:00:00Z")]]);
});

test("reading stops when it should, at the first row and after each thousand", async () => {
  const content = await made(Array.from({ length: 2_500 }, (_, at) => [at]));
  let asked = 0;
  await readSheet(content, "S", () => void asked++);
  expect(asked).toBe(3);
  const stop = () => {
    if (++asked > 4) throw new Error("stopped");
  };
  await expect(readSheet(content, "S", stop)).rejects.toThrow("stopped");
});

test("what a formula without a value leaves empty is told, by the columns' names", async () => {
  const cells = new Map([["1,1", { formula: "AGGREGATE(9,6,A2)" }]]);
  const { notes, rows } = await read(
    [
      ["a", "b"],
      [1, null],
      [2, 3],
    ],
    { cells },
  );
  expect(rows).toEqual([
    [1, null],
    [2, 3],
  ]);
  expect(notes).toEqual([expect.stringMatching(/^1 cell has a formula without a stored value .*\(b: 1; .* is B2\)\./)]);
  const large = await claimingZip(
    await made(
      [
        ["a", "b"],
        [1, null],
      ],
      { cells },
    ),
    48 * 2 ** 20 + 1,
  );
  expect((await readSheet(large, "S", () => undefined)).notes).toEqual([
    expect.stringContaining("The workbook is too large to tell empty cells from formulas"),
  ]);
  const whole = await claimingZip(
    await made([
      ["a", "b"],
      [1, 2],
    ]),
    48 * 2 ** 20 + 1,
  );
  expect((await readSheet(whole, "S", () => undefined)).notes).toEqual([]);
});

test("a sheet of nothing, or of nothing but such formulas, is refused", async () => {
  await expect(read([])).rejects.toThrow("the sheet S is empty.");
  const cells = new Map([["0,0", { formula: "AGGREGATE(9,6,B1)" }]]);
  await expect(read([], { cells })).rejects.toThrow(
    "the sheet S has only formulas without stored values. A spreadsheet",
  );
});

test("a sheet of too many columns is refused", async () => {
  const wide = (width: number) => read([Array.from({ length: width }, (_, at) => at)]);
  expect((await wide(2_000)).columns).toHaveLength(2_000);
  await expect(wide(2_001)).rejects.toThrow("S has more than 2000 columns.");
});
