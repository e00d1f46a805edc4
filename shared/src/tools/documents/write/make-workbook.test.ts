import { expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
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
    format: [...(cells ?? [])].flatMap(([place, { style }]) => (style?.numFmt === "0.00" ? [place] : [])),
    kept: freezePane?.rows,
  }));
  expect(styled).toEqual([
    { bold: ["0,0", "0,1"], format: ["1,1"], kept: 1 },
    { bold: ["0,0", "1,0", "3,0", "3,1"], format: ["4,1"], kept: 4 },
    { bold: ["0,0"], format: [], kept: 1 },
  ]);
});
