import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { ForeignTable, ForeignValue } from "./foreign-table.ts";
import { markedAs, storeTable } from "./store-table.ts";

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
/** How a column of these values is stored: its type and its values as text. */
async function stored(...values: readonly ForeignValue[]) {
  await storeTable(connection, "t", { columns: ["v"], rows: values.map((value) => [value]) }, "");
  const rows = await rowsOf("SELECT typeof(v), v::VARCHAR FROM t");
  return [...new Set(rows.map(([type]) => type)), ...rows.map(([, value]) => value)];
}
const at = (text: string) => new Date(`${text}Z`);

test.each<[string, readonly ForeignValue[], readonly unknown[]]>([
  ["integers", [1, 2n, null, -3], ["BIGINT", "1", "2", null, "-3"]],
  ["the largest integers", [2n ** 63n - 1n, -(2n ** 63n)], ["BIGINT", `${2n ** 63n - 1n}`, `${-(2n ** 63n)}`]],
  ["an integer that is larger", [1, 2n ** 63n], ["DOUBLE", "1.0", "9.223372036854776e+18"]],
  ["an integer that is smaller", [-(2n ** 63n) - 1n], ["DOUBLE", "-9.223372036854776e+18"]],
  ["a number beyond what is exact", [1, 2 ** 53], ["DOUBLE", "1.0", "9007199254740992.0"]],
  ["parts", [1, 0.5, null], ["DOUBLE", "1.0", "0.5", null]],
  ["truth values", [true, null, false], ["BOOLEAN", "true", null, "false"]],
  ["days", [at("2024-02-29T00:00:00"), at("1969-12-31T00:00:00")], ["DATE", "2024-02-29", "1969-12-31"]],
  ["moments", [at("2024-02-29T13:00:01.5"), null], ["TIMESTAMP", "2024-02-29 13:00:01.5", null]],
  [
    "days and moments",
    [at("2024-02-29T00:00:00"), at("1960-01-02T03:04:05")],
    ["TIMESTAMP", "2024-02-29 00:00:00", "1960-01-02 03:04:05"],
  ],
  ["times of day", [at("1899-12-30T13:45:30"), at("1899-12-31T00:00:01")], ["TIME", "13:45:30", "00:00:01"]],
  [
    "times and moments",
    [at("1899-12-30T13:45:30"), at("2024-01-01T01:00:00")],
    ["TIMESTAMP", "1899-12-30 13:45:30", "2024-01-01 01:00:00"],
  ],
  ["a moment of the first day", [at("1900-01-01T10:00:00")], ["TIMESTAMP", "1900-01-01 10:00:00"]],
  ["a moment long before", [at("1850-01-01T10:00:00")], ["TIMESTAMP", "1850-01-01 10:00:00"]],
  ["bytes", [new Uint8Array([0, 255]), new Uint8Array()], ["BLOB", "\\x00\\xFF", ""]],
  ["texts", ["007", "", null], ["VARCHAR", "007", "", null]],
  ["nothing", [null, null], ["VARCHAR", null, null]],
  [
    "of every kind",
    [1, "x", true, at("2024-02-29T00:00:00"), at("2024-02-29T01:00:00"), new Uint8Array([10, 255]), 9007199254740993n],
    ["VARCHAR", "1", "x", "true", "2024-02-29", "2024-02-29 01:00:00", "0aff", "9007199254740993"],
  ],
])("a column of %s is stored as what all its values are", async (_, values, expected) => {
  expect(await stored(...values)).toEqual([...expected] as never);
});

test("each column has its own type, each row its place, and a table takes the place of one of its name", async () => {
  const table = (count: number): ForeignTable => ({
    columns: ['a"b', "t"],
    rows: Array.from({ length: count }, (_, n) => (n % 2 === 0 ? [n, `x${n}`] : [n])),
  });
  const name = 'book.xlsx/It\'s "one"';
  await storeTable(connection, name, table(9), "");
  await storeTable(connection, name, table(4_097), "it's 'new'");
  expect([await markedAs(connection, name.toUpperCase()), await markedAs(connection, "none")]).toEqual([
    "it's 'new'",
    undefined,
  ]);
  const from = `FROM "book.xlsx/It's ""one"""`;
  expect(await rowsOf(`SELECT count(*), count(DISTINCT "a""b"), sum("a""b"), count(t) ${from}`)).toEqual([
    ["4097", "4097", String((4_096 * 4_097) / 2), "2049"],
  ]);
  expect(await rowsOf(`${from} LIMIT 3 OFFSET 2047`)).toEqual([
    ["2047", null],
    ["2048", "x2048"],
    ["2049", null],
  ]);
  await storeTable(connection, name, table(0), "");
  expect(await rowsOf(from)).toEqual([]);
});
