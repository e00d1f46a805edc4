import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { writeXlsx } from "hucre/xlsx";
import { openLocked } from "../database/open-locked.ts";
import { foreignNames } from "./foreign-name.ts";
import { createForeignTables, type ForeignTables } from "./foreign-tables.ts";

let home = "";
let connection: DuckDBConnection;
let tables: ForeignTables;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "foreign-")));
  await mkdir(join(home, "work"));
  await mkdir(join(home, "work-of-others"));
  ({ connection } = await openLocked(join(home, "work")));
  tables = createForeignTables(connection, { folder: join(home, "work"), staging: join(home, "staging") });
});
afterAll(async () => {
  connection.closeSync();
  await rm(home, { recursive: true });
});
beforeEach(async () => {
  await put("book.xlsx", 1);
});

/** Writes a workbook of one sheet with this value; all have the same time. */
async function put(name: string, value: number, more = 0): Promise<void> {
  const path = join(home, "work", name);
  const rows = [["n"], [value], ...Array.from({ length: more }, (_, at) => [value + at + 1])];
  await Bun.write(path, await writeXlsx({ sheets: [{ name: "Sales", rows }] }));
  await utimes(path, value, value);
}
async function ask(sql: string) {
  await tables.load(sql, () => undefined);
  return (await connection.runAndReadAll(sql)).getRowsJson();
}
const isThere = async (name: string) =>
  (await connection.runAndReadAll("SELECT count(*)::INTEGER FROM duckdb_tables() WHERE table_name = $1", [name]))
    .getRows()
    .toString() !== "0";

test.each([
  ["was dropped", ['DROP TABLE "book.xlsx"']],
  ["took another one's place", ['CREATE OR REPLACE TABLE "book.xlsx" AS SELECT 7 AS n']],
  ["was made in a schema that is left", ["CREATE SCHEMA IF NOT EXISTS s", "USE s"]],
  ["is in the schema before", ["USE main"]],
])("a workbook whose table %s is read again", async (_, statements) => {
  expect(await ask("FROM 'book.xlsx'")).toEqual([["1"]]);
  for (const statement of statements) await connection.run(statement);
  expect(await ask("FROM 'book.xlsx'")).toEqual([["1"]]);
});

test("what was read in a transaction that was rolled back is read again", async () => {
  await connection.run('DROP TABLE IF EXISTS "book.xlsx"');
  for (const value of [1, 2]) {
    await put("book.xlsx", value);
    await connection.run("BEGIN");
    expect(await ask("FROM 'book.xlsx'")).toEqual([[String(value)]]);
    await connection.run("ROLLBACK");
    expect(await ask("FROM 'book.xlsx'")).toEqual([[String(value)]]);
  }
});

test("a table that a statement has changed stays so as long as its file does", async () => {
  await ask("FROM 'book.xlsx'");
  await connection.run('UPDATE "book.xlsx" SET n = 5');
  expect(await ask("FROM 'book.xlsx'")).toEqual([["5"]]);
  await put("book.xlsx", 6);
  expect(await ask("FROM 'book.xlsx'")).toEqual([["6"]]);
});

test.skipIf(process.platform !== "linux")("files whose names differ in case only are two", async () => {
  await put("Book.xlsx", 3);
  for (const [name, value] of [
    ["Book.xlsx", "3"],
    ["book.xlsx", "1"],
    ["Book.xlsx", "3"],
  ])
    expect(await ask(`FROM '${name}'`)).toEqual([[value as string]]);
});

test("a link is what it leads to now, though both files have one size and one time", async () => {
  for (const [name, value] of [
    ["one.xlsx", 3],
    ["two.xlsx", 4],
  ] as const) {
    await put(name, value);
    await utimes(join(home, "work", name), 9, 9);
    await rm(join(home, "work/link.xlsx"), { force: true });
    await symlink(name, join(home, "work/link.xlsx"));
    expect(await ask("FROM 'link.xlsx'")).toEqual([[String(value)]]);
  }
});

test("a file that has grown is read again, though its time is the same", async () => {
  await ask("FROM 'book.xlsx'");
  await put("book.xlsx", 1, 2);
  expect(await ask("FROM 'book.xlsx'")).toEqual([["1"], ["2"], ["3"]]);
});

test("a file beside the folder, and a folder with a workbook's name, are left alone", async () => {
  await put("../work-of-others/secret.xlsx", 8);
  await mkdir(join(home, "work/folder.xlsx"), { recursive: true });
  for (const name of ["../work-of-others/secret.xlsx", join(home, "work-of-others/secret.xlsx"), "folder.xlsx"]) {
    expect(await tables.load(`FROM '${name}'`, () => undefined)).toEqual([]);
    expect([name, await isThere(name)]).toEqual([name, false]);
  }
});

test("a file that does not fit in memory is refused before it is read", async () => {
  await Bun.write(join(home, "work/large.xlsx"), "");
  await truncate(join(home, "work/large.xlsx"), 200 * 2 ** 20 + 1);
  await expect(ask("FROM 'large.xlsx'")).rejects.toThrow("large.xlsx is larger than 200 MB.");
  await rm(join(home, "work/large.xlsx"));
});

test("a part is found however its letters are written, every name of a statement is read, and each its own", async () => {
  await put("other.XLSM", 2);
  using database = new Database(join(home, "work/a.sqlite3"));
  database.run("CREATE TABLE IF NOT EXISTS Things AS SELECT 4 AS n");
  const sum = "SELECT a.n + b.n + c.n FROM 'book.xlsx/sALES' AS a, \"other.XLSM\" AS b, 'a.sqlite3/THINGS' AS c";
  expect(await ask(sum)).toEqual([["7"]]);
  expect(foreignNames("'a.xlsm', 'b.sqlite', 'c.SQLITE3', 'd.db', 'a.xlsm', 'e.xls', 'f.dbf'")).toMatchObject([
    { name: "a.xlsm", kind: "workbook" },
    { name: "b.sqlite", kind: "sqlite" },
    { name: "c.SQLITE3", kind: "sqlite" },
    { name: "d.db", kind: "sqlite" },
  ]);
});
