import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { partsOf } from "./staged-copies.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const query = (sql: string) => scene.databases.query(scene.workspace, sql, { signal: AbortSignal.timeout(60_000) });

test("a statement reads what one before it has written, and the last with rows of data is shown", async () => {
  const both = await query(
    "COPY (SELECT 1 AS n) TO 'one.csv'; SELECT n + 1 AS m FROM 'one.csv'; COPY (SELECT 3) TO 'x.csv'",
  );
  expect([both.rows, both.instead]).toEqual([[["2"]], undefined]);
  const { rows, instead } = await query("COPY (FROM 'one.csv') TO 'one.csv'; FROM 'one.csv'; CREATE TABLE t (n INT)");
  expect([rows, instead]).toEqual([[["1"]], undefined]);
});

test("a transaction and its tables last across files that are written in it", async () => {
  const sql = "BEGIN; CREATE TABLE u AS SELECT 5 AS n; COPY u TO 'u.parquet'; ROLLBACK; FROM 'u.parquet'";
  expect((await query(sql)).rows).toEqual([[5]]);
  await expect(query("FROM u")).rejects.toThrow("does not exist");
});

test("EXPLAIN writes a file if it executes the statement, and none otherwise", async () => {
  await query("EXPLAIN COPY (SELECT 1) TO 'planned.csv'");
  await query("EXPLAIN ANALYZE COPY (SELECT 1) TO 'new/folder/made.csv'");
  expect([await scene.exists("planned.csv"), await scene.exists("new/folder/made.csv")]).toEqual([false, true]);
});

test("a failure names the file as the statement does", async () => {
  await expect(query("COPY (SELECT error('no')) TO 'never.csv'")).rejects.not.toThrow("/db-");
  const failing = query("COPY (SELECT 1) TO 'packed.xyz' (FORMAT nonsense)");
  await expect(failing).rejects.toMatchObject({ code: "rejected", message: expect.not.stringContaining("/db-") });
});

test.each([
  ["SELECT 1", ["SELECT 1"]],
  ["-- nothing", ["-- nothing"]],
  ["COPY t TO 'a.csv' -- ; end", ["COPY t TO '/s/ID.csv' -- ; end"]],
  [
    "SELECT 1; COPY t TO 'b/a.CSV.gz' (HEADER); ; SELECT 2;",
    ["SELECT 1; COPY t TO '/s/ID.CSV.gz' (HEADER); ; ", "SELECT 2;"],
  ],
  ["COPY t TO 'a'; COPY t FROM 'a'", ["COPY t TO '/s/ID'; ", "COPY t FROM 'a'"]],
])("%j is run in parts that end with a file", (sql, parts) => {
  expect(partsOf(sql, "/s").map((part) => part.sql.replace(/[\da-f-]{36}/, "ID"))).toEqual(parts);
});
