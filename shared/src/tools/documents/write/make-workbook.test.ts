import { expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { zipContent } from "../read/zip-content.ts";
import { makeWorkbook } from "./make-workbook.ts";

test("titles above a table are bold with its columns' names, and formats begin below them", async () => {
  const table = [
    ["Item", "EUR"],
    ["Rope", 2],
  ];
  const sheet = (name: string, rows: (string | number | null)[][]) => ({
    name,
    rows,
    plain: false,
    formats: { B: "0.00" },
  });
  const { content } = await makeWorkbook([
    sheet("Plain", table),
    sheet("Titled", [["Invoice"], ["September"], [], ...table]),
    sheet("List", [["Item"], ["Rope"]]),
  ]);
  const { sheets } = await readXlsx(content, { readStyles: true });
  const styled = sheets.map(({ cells, freezePane }) => ({
    bold: [...(cells ?? [])].flatMap(([place, { style }]) => (style?.font?.bold === true ? [place] : [])),
    // A program draws what has no font of its own in one of its choice.
    fonts: [...new Set([...(cells ?? [])].flatMap(([, { style }]) => style?.font?.name ?? []))],
    format: [...(cells ?? [])].flatMap(([place, { style }]) => (style?.numFmt === "0.00" ? [place] : [])),
    kept: freezePane?.rows,
  }));
  expect(styled).toEqual([
    { bold: ["0,0", "0,1"], format: ["1,1"], kept: 1, fonts: ["Calibri"] },
    { bold: ["0,0", "1,0", "3,0", "3,1"], format: ["4,1"], kept: 4, fonts: ["Calibri"] },
    { bold: ["0,0"], format: [], kept: 1, fonts: ["Calibri"] },
  ]);
});

test("names of columns come after up to seven titles, and stay the texts they are", async () => {
  const headAt = async (titles: number) => {
    const rows = [...Array.from({ length: titles }, (_, at) => [`Title ${at}`]), ["2024-01-01", "2024-02-01"], [1, 2]];
    const { content } = await makeWorkbook([{ name: "S", rows, plain: false, formats: {} }]);
    const [sheet] = (await readXlsx(content, { readStyles: true })).sheets;
    expect(sheet?.rows[titles]?.[0]).toEqual(titles === 8 ? new Date("2024-01-01") : "2024-01-01");
    return sheet?.freezePane?.rows;
  };
  expect([await headAt(0), await headAt(7), await headAt(8)]).toEqual([1, 8, 1]);
});

test("a sheet has as many rows as a spreadsheet program opens, and no more", async () => {
  const rows = Array.from({ length: 1_048_577 }, (): string[] => []);
  await expect(makeWorkbook([{ name: "Long", rows, plain: true, formats: {} }])).rejects.toMatchObject({
    code: "too_large",
    message: "A sheet may have 1048576 rows; Long has 1048577.",
  });
});

test("a column is as wide as what stands in it as it is shown, with room for what a formula gives; a long text is wrapped", async () => {
  const rows = [
    ["A title above the table that is long"],
    ["a", "b", "c", "d", "e", "f"],
    ["x".repeat(40), "y", 1_234_567, "2026-03-01 14:30", "=A2", "z".repeat(400)],
  ];
  const { content } = await makeWorkbook([{ name: "S", rows, plain: false, formats: { C: "#,##0.00 €" } }]);
  const xml = (await (await zipContent(content)).text("xl/worksheets/sheet1.xml")) ?? "";
  const widths = [...xml.matchAll(/<col [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  for (const [at, least, most] of [
    [0, 40, 50],
    [1, 8, 9],
    [2, 14, 20],
    [3, 16, 22],
    [4, 12, 17],
    [5, 60, 61],
  ] as const)
    expect(widths[at]).toBeWithin(least, most);
  const [sheet] = (await readXlsx(content, { readStyles: true })).sheets;
  expect([0, 5].map((at) => sheet?.cells?.get(`2,${at}`)?.style?.alignment?.wrapText)).toEqual([undefined, true]);
});

test("a formula that is refused is named by its cell, and of a file's cells none is one", async () => {
  const sheet = (rows: string[][], plain: boolean) => makeWorkbook([{ name: "S", rows, plain, formats: {} }]);
  await expect(
    sheet(
      [
        ["a", "b"],
        ["c", '=WEBSERVICE("x")'],
      ],
      false,
    ),
  ).rejects.toThrow("The formula in S!B2 is refused");
  expect((await sheet([["n"], ["=A2"], ['=WEBSERVICE("x")']], true)).told).toBe('"S" (3 rows, 0 formulas).');
});

/**
 * What a sheet with these rows holds when it is read again: values, and formulas by their place.
 */
async function writtenAs(rows: (string | number | boolean | null)[][], plain = false, formats = {}) {
  const { content, told } = await makeWorkbook([{ name: "S", rows, plain, formats }]);
  const [sheet] = (await readXlsx(content, { readStyles: true })).sheets;
  const formulas = [...(sheet?.cells ?? [])].flatMap(([at, { formula }]) =>
    formula === undefined ? [] : [[at, formula]],
  );
  const styles = Object.fromEntries([...(sheet?.cells ?? [])].map(([at, { style }]) => [at, style?.numFmt]));
  return { told, rows: sheet?.rows, formulas, styles };
}

test("a day that the calendar has is a date, and everything else is what it was written as", async () => {
  const head = ["Day", "Text"];
  const day = (text: string) => new Date(`${text}T00:00:00Z`);
  const written = await writtenAs([
    head,
    ["2024-02-29", "'2024-02-29"],
    ["2023-02-29", "2024-04-31"],
    ["2024-13-01", "on 2024-02-29"],
    ["=1+1", "'=1+1"],
    ["=", "''"],
    [true, 0],
  ]);
  expect(written.rows?.slice(1)).toEqual([
    [day("2024-02-29"), "2024-02-29"],
    ["2023-02-29", "2024-04-31"],
    ["2024-13-01", "on 2024-02-29"],
    [2, "=1+1"],
    ["=", "'"],
    [true, 0],
  ]);
  expect(written.formulas).toEqual([["4,0", "1+1"]]);
  expect(written.styles["1,0"]).toBe("yyyy-mm-dd");
  expect((await writtenAs([head, ["2024-02-29", ""]], false, { A: "d mmm" })).styles["1,0"]).toBe("d mmm");
});

test("an amount is a number in its own format, or that of its cell or column; what could be two is a text and told", async () => {
  const rows = [
    ["What", "1,234.50 €"],
    ["Sum", "1,234.50 €"],
    ["Share", "12 %"],
    ["Growth", "=B2/2"],
    ["Days", "2026-03-01 14:30"],
    ["Unclear", "1,234 €"],
    ["Kept", "'12 %"],
  ];
  const written = await writtenAs(rows, false, { B3: "0.0%", B4: "0.00 EUR", A: "@" });
  expect(written.rows?.map((row) => row[1])).toEqual([
    ...["1,234.50 €", 1234.5, 0.12, 617.25, new Date("2026-03-01T14:30Z"), "1,234 €", "12 %"],
  ]);
  expect(written.styles).toMatchObject({
    "1,1": '#,##0.00" €"',
    "2,1": "0.0%",
    "3,1": '0.00 "EUR"',
    "4,1": "yyyy-mm-dd hh:mm",
    "6,0": "@",
  });
  expect(written.told).toBe(
    '"S" (7 rows, 1 formula; of its texts became 1 date, 2 numbers). Texts, not numbers or dates: S!B6. Formulas give S!B4 = 617.25 EUR.',
  );
  const column = await writtenAs([["n"], [5], ["12 %"], ["1,234.50 €"]], false, { A: "0.0 €" });
  expect(column.styles).toMatchObject({ "1,0": "0.0 €", "2,0": "0 %", "3,0": "0.0 €" });
  const totals = await writtenAs([
    ["a", "b", "c", "d", "e"],
    ["2.50 €", "2 %", "1 €", "1 €", 0.25],
    ["1 €", "3 %", null, null, "1 €"],
    ["=SUM(A2:A3)", "=AVERAGE(B2:B3)", "=SUM(A2:C3)", "=COUNT(D2:D3)", "=SUM(E2:E3)"],
  ]);
  // None of them is rounded by the format of what it sums up.
  expect(["3,0", "3,1", "3,2", "3,3", "3,4"].map((at) => totals.styles[at])).toEqual([
    '#,##0.00" €"',
    ...[undefined, undefined, undefined, undefined],
  ]);
  const many = await writtenAs([["n", "m"], ...Array.from({ length: 6 }, () => ["1.234 €", "12.50"])]);
  expect(many.told).toEndWith(" Texts, not numbers or dates: S!A2, S!B2, S!A3, S!B3 and 8 more.");
});

test("in a sheet from a file nothing is a formula, and no sign is taken away", async () => {
  const { rows, formulas, told } = await writtenAs(
    [
      ["a", "b"],
      ["=1+1", "'x"],
      ["=A1", "2024-02-29"],
    ],
    true,
  );
  expect(rows?.slice(1)).toEqual([
    ["=1+1", "'x"],
    ["=A1", new Date("2024-02-29T00:00:00Z")],
  ]);
  expect([formulas, told]).toEqual([[], '"S" (3 rows, 0 formulas; of its texts became 1 date).']);
});

test("two million cells are written at most, and a long circle is told by its ends", async () => {
  const wide = Array.from({ length: 2_001 }, () => 1);
  const sheet = { name: "S", rows: Array.from({ length: 1_000 }, () => wide), plain: false, formats: {} };
  await expect(makeWorkbook([sheet])).rejects.toMatchObject({
    code: "too_large",
    message: "A workbook may have 2000000 cells; this has 2001000.",
  });
  const circle = [["n"], ...Array.from({ length: 9 }, (_, at) => [`=A${at === 8 ? 2 : at + 3}`])];
  await expect(makeWorkbook([{ ...sheet, rows: circle }])).rejects.toMatchObject({
    code: "invalid_input",
    message:
      "Formulas depend on themselves: S!A2 needs S!A3 needs S!A4 needs S!A5 needs S!A6 needs S!A7 needs S!A8 needs … needs S!A2. Nothing was written.",
  });
});
