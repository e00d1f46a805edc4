import { expect, test } from "bun:test";
import { makeWorkbook, type SheetToWrite } from "./make-workbook.ts";
import { sheetPage } from "./sheet-page.ts";

type Rows = SheetToWrite["rows"];
const page = async (sheets: readonly Partial<SheetToWrite>[]) => {
  const whole = sheets.map((sheet, at) => ({ name: `S${at}`, rows: [], plain: false, formats: {}, ...sheet }));
  return await sheetPage((await makeWorkbook(whole)).content);
};
/** The tables of a page as texts, with their letters and numbers. */
const tablesOf = (html: string) =>
  [...html.matchAll(/<table>(.*?)<\/table>/gs)].map(([, table = ""]) =>
    [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => cell),
    ),
  );

test("the cells stand below their letters and beside their numbers, in their formats", async () => {
  const rows: Rows = [
    ["Item", "EUR", "Day"],
    ["<Lamp> & co", 1234.5, "2024-02-29"],
    ["Sum", "=SUM(B2:B2)", null],
  ];
  const html = await page([{ rows, formats: { B: "#,##0.00" } }]);
  expect(tablesOf(html)).toEqual([
    [
      ["", "A", "B", "C"],
      ["1", "Item", "EUR", "Day"],
      ["2", "&lt;Lamp&gt; &amp; co", "1,234.50", "2024-02-29"],
      ["3", "Sum", "1,234.50", ""],
    ],
  ]);
  expect(html.match(/<td class="number"/g)).toHaveLength(2);
  expect(html.match(/font-weight: bold/g)).toHaveLength(3);
  expect(html.match(/max-width: (\d+)px/g)?.[0]).toBe("max-width: 186px");
});

test("of a workbook the first twenty rows and eight columns of the first three sheets are shown, of a cell a hundred letters", async () => {
  const wide = Array.from({ length: 9 }, (_, at) => `c${at}`);
  const long = Array.from({ length: 21 }, (_, at) => [`row ${at}`, "x".repeat(101)]);
  const tables = tablesOf(await page([{ rows: [wide] }, { rows: long }, {}, { rows: [["unseen"]] }]));
  expect(tables).toHaveLength(3);
  expect([tables[0]?.[0]?.length, tables[0]?.[1]?.at(-1)]).toEqual([9, "c7"]);
  expect([tables[1]?.length, tables[1]?.at(-1)?.[1]]).toEqual([21, "row 19"]);
  expect(tables[1]?.[1]?.[2]).toBe("x".repeat(100));
  expect(tables[2]).toEqual([["", "A"]]);
});
