import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSqlite, readSqliteTable, sqliteTables } from "./read-sqlite.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sqlite-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(folder, name);
function database(name: string, ...statements: readonly string[]): string {
  using made = new Database(path(name));
  for (const statement of statements) made.run(statement);
  return path(name);
}
const on = (text: string) => new Date(`${text}Z`);

test("a file is one of SQLite by how it begins", async () => {
  expect(await isSqlite(database("a.db", "CREATE TABLE t (n)"))).toBe(true);
  await Bun.write(path("other.db"), "SQLite format 2 and more");
  await Bun.write(path("short.db"), "SQLite");
  expect([await isSqlite(path("other.db")), await isSqlite(path("short.db"))]).toEqual([false, false]);
});

test("its own tables are told by name, without views, indexes and what SQLite keeps", () => {
  const file = database(
    "names.db",
    "CREATE TABLE b (n INTEGER PRIMARY KEY AUTOINCREMENT)",
    "CREATE TABLE A (n)",
    "CREATE TABLE sqlitely (n)",
    "CREATE INDEX i ON b (n)",
    "CREATE VIEW v AS SELECT 1",
  );
  expect(sqliteTables(file)).toEqual(["A", "b", "sqlitely"]);
});

test("a table is read whole, with exact integers, and texts that all are dates as dates", () => {
  const file = database(
    "t.db",
    'CREATE TABLE "it\'s ""t""" (big, day, at, mixed, none, raw)',
    `INSERT INTO "it's ""t""" VALUES
      (9007199254740993, '2024-02-29', '2024-02-29 10:00', '2024-02-29', NULL, x'00ff'),
      (-1, NULL, '2024-02-29T10:00:01.5', 'soon', NULL, NULL)`,
  );
  expect(readSqliteTable(file, `it's "t"`, () => undefined)).toEqual({
    columns: ["big", "day", "at", "mixed", "none", "raw"],
    rows: [
      [9007199254740993n, on("2024-02-29T00:00"), on("2024-02-29T10:00"), "2024-02-29", null, new Uint8Array([0, 255])],
      [-1n, null, on("2024-02-29T10:00:01.5"), "soon", null, null],
    ],
  });
});

test.each(["2024-02-30", "2024-2-29", "2024-02-29 25:00", "2024-02-29 10", "2024-02-29Z", "20240229"])(
  "%s is no date and stays a text",
  (text) => {
    const file = database(`text ${text}.db`, "CREATE TABLE t (day)", `INSERT INTO t VALUES ('${text}')`);
    expect(readSqliteTable(file, "t", () => undefined).rows).toEqual([[text]]);
  },
);

test("reading stops when it should, at the first row and after each thousand", () => {
  const file = database(
    "many.db",
    "CREATE TABLE t AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 2500) SELECT i FROM r",
  );
  let asked = 0;
  expect(readSqliteTable(file, "t", () => void asked++).rows).toHaveLength(2_500);
  expect(asked).toBe(3);
  const stop = () => {
    if (++asked > 4) throw new Error("stopped");
  };
  expect(() => readSqliteTable(file, "t", stop)).toThrow("stopped");
});

test("a file whose program ended with a log is read with it, and both stay as they are", async () => {
  using open = new Database(path("crashed.db"));
  for (const statement of ["PRAGMA journal_mode = WAL", "CREATE TABLE t (n)", "INSERT INTO t VALUES (7)"])
    open.run(statement);
  const files = ["left.db", "left.db-wal"];
  for (const name of files) await Bun.write(path(name), Bun.file(path(name.replace("left", "crashed"))));
  const hashes = () => Promise.all(files.map(async (name) => Bun.hash(await Bun.file(path(name)).bytes())));
  const before = await hashes();
  expect(readSqliteTable(path("left.db"), "t", () => undefined).rows).toEqual([[7n]]);
  expect(await hashes()).toEqual(before);
});

test("reading changes nothing, and leaves no file beside the one it reads", () => {
  const file = database("kept.db", "PRAGMA journal_mode = WAL", "CREATE TABLE t AS SELECT 1 AS n");
  readSqliteTable(file, "t", () => undefined);
  sqliteTables(file);
  expect(readdirSync(folder).filter((name) => name.startsWith("kept"))).toEqual(["kept.db"]);
  using open = new Database(file);
  open.run("INSERT INTO t VALUES (2)");
  expect(readSqliteTable(file, "t", () => undefined).rows).toEqual([[1n], [2n]]);
});
