import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { sqlQuery } from "../sql-query.ts";
import { admitSql } from "./admit-sql.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("t.csv", "a,b\n1,x\n");
});
afterAll(() => scene[Symbol.asyncDispose]());

const sql = (text: string) => scene.call(sqlQuery(scene), { sql: text, timeout: null });
const files = () => [...new Bun.Glob("**/*").scanSync({ cwd: scene.workspace.root, dot: true })].sort();

test("no statement writes a file that other programs obey, however its name is spelled", async () => {
  await mkdir(join(scene.workspace.root, ".vscode"), { recursive: true });
  await mkdir(join(scene.workspace.root, "sub"), { recursive: true });
  await symlink(".vscode", join(scene.workspace.root, "innocent"));
  const before = files();
  const names = [
    ".envrc",
    "./.envrc",
    "sub/../.bashrc",
    "sub/bunfig.toml",
    "MANYHANDS.toml",
    ".git/hooks/pre-commit",
    ".git",
    ".vscode/settings.json",
    "innocent/settings.json",
    ".npmrc",
    `${scene.workspace.root}/.envrc`,
    ".envrc ",
    "file:///x/.envrc",
  ];
  const ways = [
    ...names.map((name) => `COPY (SELECT 1) TO '${name}'`),
    "COPY (SELECT 1) TO '.envrc' (FORMAT csv)",
    "copy t /* x /* y */ */ to '.envrc'",
    "COPY (SELECT 'a' AS \"to\") TO -- x\n '.envrc'",
    "COPY (SELECT 1) TO '.en' \n 'vrc'",
    "COPY (SELECT 1) TO ('.en' || 'vrc')",
    "COPY (SELECT 1) TO E'.env\\162c'",
    "COPY (SELECT 1) TO $$.envrc$$",
    "COPY (SELECT 1) TO $x$.envrc$x$",
    "SELECT ';'; COPY (SELECT 1) TO '.envrc'",
    "SELECT 1 /* ; */; COPY (SELECT ';--') TO '.envrc'",
    "SELECT $$'$$; COPY (SELECT 1) TO '.envrc' --'",
    "SELECT E'\\''; COPY (SELECT 1) TO '.envrc' --'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '.envrc'",
    "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '.envrc'",
    "PREPARE p AS COPY (SELECT 1) TO '.envrc'; EXECUTE p",
    "EXPORT DATABASE '.vscode'",
    "ATTACH '.envrc' AS e",
    "ATTACH DATABASE IF NOT EXISTS 'bunfig.toml' AS e",
    "ATTACH OR REPLACE '.envrc' AS e",
  ];
  for (const way of ways) {
    const { isError } = await sql(way);
    expect([way, isError, files()]).toEqual([way, true, before]);
  }
});

test("no statement changes how the database answers, or stops it from answering", async () => {
  const ways = [
    "CALL enable_logging()",
    "CALL enable_logging(storage='stdout')",
    "FROM enable_logging(storage='stdout')",
    "SELECT * FROM query('FROM enable_' || 'logging(storage=''stdout'')')",
    "SELECT * FROM query('FROM enable_' || 'logging(storage=''file'', storage_config={''path'': ''/nowhere''})')",
    "PRAGMA enable_progress_bar",
    "PRAGMA enable_profiling",
    "SET threads = 1",
    "PREPARE p AS SELECT 1",
    "IMPORT DATABASE 'x'",
    "LOAD json",
    "VACUUM; CALL enable_logging(storage='stdout')",
  ];
  for (const way of ways) {
    await sql(way);
    const { text, isError } = await sql("SELECT 6 * 7 AS n");
    expect([way, isError, text]).toEqual([way, false, "n\nINTEGER\n42\n[1 row]"]);
    expect([way, (await sql("FROM 't.csv'")).isError]).toEqual([way, false]);
  }
});

test("a statement that gets round the lock is told that it cost the tables", async () => {
  expect((await sql("CREATE OR REPLACE TABLE lost AS SELECT 1 AS a")).isError).toBe(false);
  const { text, isError } = await sql("FROM enable_logging()");
  expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining("changed how the database works") });
  expect((await sql("FROM lost")).text).toContain("lost does not exist");
});

test.each([
  "CALL enable_logging()",
  "set threads = 1",
  "SET GLOBAL threads = 1",
  "RESET threads",
  "SET variable = 1",
  "RESET VARIABLE",
  "PRAGMA threads = 1",
  "PRAGMA enable_logging",
  "PRAGMA variable x",
  "LOAD json",
  "INSTALL json",
  "FORCE INSTALL json",
  "PREPARE p AS SELECT 1",
  "EXECUTE p",
  "DEALLOCATE p",
  "CHECKPOINT",
  "VACUUM",
  "EXPORT DATABASE 'x'",
  "IMPORT DATABASE 'x'",
  "EXPLAIN CALL x()",
  "EXPLAIN ANALYZE VERBOSE CALL x()",
  "EXPLAIN (ANALYZE, FORMAT json) CALL x()",
  "SELECT 1; CALL x()",
])("no statement but one that works on data reaches the database: %s", async (text) => {
  await expect(admitSql(scene.workspace, text)).rejects.toMatchObject({
    code: "rejected",
    message: expect.stringMatching(/is not for here|begins no statement/),
  });
});

test.each([
  ["SELEC 1", "SELEC begins no statement"],
  ["'select' 1", "This begins no statement"],
  ["1 + 1", "This begins no statement"],
])("a statement that there is not is told so: %s", async (text, said) => {
  const refused = { code: "rejected", message: expect.stringContaining(said) };
  await expect(admitSql(scene.workspace, text)).rejects.toMatchObject(refused);
});

test("a failed transaction is rolled back by the next ROLLBACK, and its tables stay", async () => {
  expect((await sql("CREATE OR REPLACE TABLE kept AS SELECT 1 AS a")).isError).toBe(false);
  expect((await sql("BEGIN")).isError).toBe(false);
  expect((await sql("INSERT INTO kept SELECT error('no')")).isError).toBe(true);
  expect((await sql("ROLLBACK")).isError).toBe(false);
  expect((await sql("FROM kept")).text).toContain("[1 row]");
});

test("statements on data pass, whatever their texts and comments contain", async () => {
  const fine = [
    "CREATE OR REPLACE TABLE w AS FROM 't.csv'; INSERT INTO w VALUES (2, 'call; copy x to ''.envrc''')",
    "UPDATE w SET b = '--' WHERE a = 1; DELETE FROM w WHERE a = 99",
    "SELECT 'COPY (SELECT 1) TO ''.envrc''' AS \"set\" -- CALL x\n/* PRAGMA /* y */ z */",
    "WITH x AS (SELECT 1 AS a) FROM x",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN (SELECT 1)",
    "BEGIN; INSERT INTO w VALUES (3, 'y'); COMMIT",
    "SET VARIABLE least = 1; SELECT * FROM w WHERE a > getvariable('least')",
    "PRAGMA table_info('w')",
    "DESCRIBE w",
    "SHOW TABLES",
    "SUMMARIZE w",
    "PIVOT w ON b USING sum(a)",
    "CREATE MACRO twice(x) AS x * 2; SELECT twice(21)",
    "ALTER TABLE w ADD COLUMN c INTEGER",
    "COPY w TO 'out.csv'; COPY w FROM 'out.csv'",
    "COPY (SELECT a AS \"to\" FROM w) TO 'sub/../out.parquet' (FORMAT parquet)",
    "ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT 1; DETACH m",
    'SELECT 5 AS "copy";;',
    "SELECT $$it's$$ AS t",
  ];
  for (const one of fine) {
    const { text, isError } = await sql(one);
    expect([one, isError ? text : ""]).toEqual([one, ""]);
  }
});

test.each([
  "SELECT 'open",
  'SELECT "open',
  "SELECT 1 /* open",
  "SELECT 1 /* open /* and */ COPY",
  "SELECT $$open",
  "SELECT $a$open$b$",
])("what is opened and never closed is refused: %s", async (text) => {
  await expect(admitSql(scene.workspace, text)).rejects.toMatchObject({
    code: "rejected",
    message: "Something in the SQL is opened and never closed: a quote or a comment.",
  });
});

test("a name that programs obey is refused also where a link leads to a file that they do not", async () => {
  await scene.write("plain.txt", "");
  await symlink("plain.txt", join(scene.workspace.root, ".envrc"));
  await expect(admitSql(scene.workspace, "COPY (SELECT 1) TO '.envrc'")).rejects.toThrow("is protected");
  await rm(join(scene.workspace.root, ".envrc"));
});

test("a file outside the workspace is not written", async () => {
  for (const path of ["../../../out.csv", "/etc/out.csv", "file:///etc/out.csv", "~/out.csv"])
    expect((await sql(`COPY (SELECT 1) TO '${path}'`)).isError).toBe(true);
});
