import { expect, test } from "bun:test";
import { asksForTables } from "./asks-for-tables.ts";

test.each([
  ["Add up the amounts in orders.csv.", true],
  ["Download the list as CSV and sum it.", true],
  ["positions.XLSX", true],
  ["把 Excel 里的数字加起来", true],
  ["Book the table for two at eight.", false],
  ["Read the terms at https://shop.example.", false],
])("the user's words %j call for it: %p", (text, called) => {
  expect(asksForTables(text, "user")).toBe(called);
});

test.each([
  ["A file was downloaded to downloads/positions-7008.csv (1617 bytes).", true],
  ["Unpacked; sql_query reads it.", true],
  ["A file was downloaded to downloads/terms.pdf (9 bytes).", false],
  ["The page offers orders.csv and a CSV export.", false],
])("a result %j calls for it: %p", (text, called) => {
  expect(asksForTables(text, "result")).toBe(called);
});
