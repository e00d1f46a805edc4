import { expect, test } from "bun:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { writtenNumbers } from "./written-numbers.ts";

const connection = await (await DuckDBInstance.create(":memory:")).connect();

/** The numbers that the SQL makes of the texts, for each way to read them. */
async function read(texts: readonly (string | null)[]) {
  await connection.run('CREATE OR REPLACE TABLE t ("a ""b" TEXT)');
  for (const text of texts) await connection.run("INSERT INTO t VALUES ($text)", { text });
  const made: Record<string, unknown> = {};
  for (const { sign, sql } of writtenNumbers('a "b', texts)) {
    const rows = await (await connection.runAndReadAll(`SELECT ${sql} FROM t`)).getRows();
    made[sign] = rows.flat();
  }
  return made;
}

test.each<[readonly (string | null)[], Record<string, unknown>]>([
  [["1.234,56", "-987", null, "1.234.567"], { comma: [1234.56, -987, null, 1_234_567] }],
  [["12,5", "9,25"], { comma: [12.5, 9.25] }],
  [["1,234.56", "7"], { point: [1234.56, 7] }],
  [["4.5 €", "12 €"], { point: [4.5, 12] }],
  [["20'614.05", "7’636.45", "12.5"], { point: [20_614.05, 7636.45, 12.5] }],
  [["(46,722.00)", "3,485.00", "($92.50)"], { point: [-46_722, 3485, -92.5] }],
  [["(1.234,50)", "7,25", null], { comma: [-1234.5, 7.25, null] }],
  [["(12", "3.5"], {}],
  // Thousands or decimals: the texts do not say.
  [["1.234", "56.789"], { comma: [1234, 56_789], point: [1.234, 56.789] }],
  [["1,234"], { comma: [1.234], point: [1234] }],
  [["01067", "04109"], {}],
  [["1.234,56", "n/a"], {}],
  [["1.2.3", "1.2"], {}],
  [["192.168.1.10"], {}],
  [[null, " "], {}],
])("the texts %j are numbers as they are written: %j", async (texts, made) => {
  expect(await read(texts)).toEqual(made);
});
