import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { landlockAbi } from "../../shared/src/machine/kernel/landlock.ts";
import { type DataScene, dataScene } from "../../shared/src/testing/data/data.ts";
import { startDatabase } from "../../shared/src/tools/data/database/database-process.ts";
import { sqlQuery } from "../../shared/src/tools/data/sql-query.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  const at = (...path: string[]) => join(scene.workspace.root, ...path);
  for (const folder of [".cursor/rules", "sub/x0.", "links", "parts"]) await mkdir(at(folder), { recursive: true });
  await scene.write("old.csv", "a\n1\n");
  // What a command may make: links to what it may not write.
  await symlink(".cursor/rules/tmp", at("tmp_old.csv"));
  await symlink(".cursor/rules/link", at("link.csv"));
  await symlink("../.cursor/rules/link", at("links/data_0.csv"));
  await symlink("../.cursor/rules", at("parts/q=1"));
  await symlink(".cursor/rules/log", at("x.db.wal"));
});
afterAll(() => scene[Symbol.asyncDispose]());

const sql = (text: string) => scene.call(sqlQuery(scene), { sql: text, timeout: null });
const obeyed = () => readdir(join(scene.workspace.root, ".cursor/rules"));
const evil = "COPY (SELECT 'evil' AS a, '1' AS q) TO";

test.each([
  `${evil} 'sub' (FORMAT csv, PER_THREAD_OUTPUT, FILENAME_PATTERN '../.cursor/rules/b', OVERWRITE_OR_IGNORE)`,
  `${evil} 'sub' (FORMAT csv, PER_THREAD_OUTPUT, FILENAME_PATTERN 'x', FILE_EXTENSION '/../../.cursor/rules/b', OVERWRITE_OR_IGNORE)`,
  `${evil} 'sub' ("per_thread_output", "filename_pattern" '../.cursor/rules/b', "overwrite_or_ignore")`,
  `${evil} 'sub' (FORMAT csv, U&"per\\005fthread_output", FILENAME_PATTERN '../.cursor/rules/b')`,
  `${evil} 'new' (FILE_SIZE_BYTES '1kb', FILENAME_PATTERN '../.cursor/rules/b')`,
  `${evil} 'new' (FORMAT parquet, ROW_GROUPS_PER_FILE 1, FILENAME_PATTERN '../.cursor/rules/b')`,
  `${evil} 'links' (FORMAT csv, PER_THREAD_OUTPUT, OVERWRITE_OR_IGNORE)`,
  `${evil} 'parts' (FORMAT csv, PARTITION_BY (q), OVERWRITE_OR_IGNORE)`,
  `${evil} 'parts' PARTITION BY (q)`,
  `${evil} 'parts' WITH (FORMAT csv, PARTITION_BY q)`,
  `${evil} 'link.csv'`,
  `${evil} './old.csv' (FORMAT csv, USE_TMP_FILE true)`,
  "ATTACH 'x.db' AS one; CREATE TABLE one.t AS SELECT 'evil' AS a",
  "ATTACH 'x.db' AS two (READ_ONLY false); CREATE TABLE two.t AS SELECT 'evil' AS a",
  "ATTACH 'x.db' AS three (READ_ONLY, READ_WRITE); CREATE TABLE three.t AS SELECT 'evil' AS a",
  "ATTACH 'link.csv' AS four (READ_ONLY false)",
])("a query writes nothing that other programs obey, whatever names its files get: %s", async (text) => {
  const { isError } = await sql(text);
  expect([isError, await obeyed()]).toEqual([true, []]);
});

test("nor by an address, or the name of a home", async () => {
  const { root } = scene.workspace;
  for (const name of [
    `file://${root}/link.csv`,
    `file:${root}/link.csv`,
    `FILE://localhost${root}/link.csv`,
    "~/link.csv",
  ])
    expect([name, (await sql(`${evil} '${name}'`)).isError, await obeyed()]).toEqual([name, true, []]);
});

test.each([1, 2])("nor by a name that is exchanged after it was looked at for the %d. time", async (times) => {
  const at = (name: string) => join(scene.workspace.root, name);
  const [folder, aside] = [`exchanged-${times}`, `aside-${times}`];
  await mkdir(at(folder));
  let looked = 0;
  const resolve = async (path: string) => {
    const real = await scene.workspace.resolve(path);
    // What a command that runs meanwhile may do at any moment.
    if (++looked === times) {
      await rename(at(folder), at(aside));
      await symlink(".cursor/rules", at(folder));
    }
    return real;
  };
  const workspace = { ...scene.workspace, resolve };
  const written = scene.databases.query(workspace, `${evil} '${folder}/evil.mdc' (FORMAT csv)`, {
    signal: AbortSignal.timeout(60_000),
  });
  await written.catch(() => undefined);
  expect([looked >= times, await obeyed()]).toEqual([true, []]);
});

test("an existing file is replaced without a name beside it, where a link may lie in wait", async () => {
  expect([await sql(`${evil} 'old.csv'`), await obeyed()]).toMatchObject([{ isError: false }, []]);
  expect(await scene.read("old.csv")).toContain("evil");
});

test.skipIf(landlockAbi() < 3)("the process of a query writes nothing in the workspace by itself", async () => {
  const place = join(scene.workspace.root, "made.csv");
  const process = startDatabase(scene.workspace.root);
  const copy = (to: string) =>
    process.ask({ sql: `COPY (SELECT 1) TO '${to}'`, timeoutMs: 60_000, maxCharacters: 1000 });
  const [inside, own] = [await copy(place), await copy(join(process.staging, "made.csv"))];
  await process.end();
  expect([inside.ok, await Bun.file(place).exists(), own.ok]).toEqual([false, false, true]);
  expect(await readdir(process.staging).catch(() => "gone")).toBe("gone");
});

test("a query writes one file with every option of its format, and reads a database's file", async () => {
  const fine = [
    "COPY (SELECT 1 AS a) TO 'sub/a.csv' (FORMAT csv, HEADER, DELIMITER ';', FORCE_QUOTE (a), QUOTE '\"')",
    "COPY (SELECT 1 AS a) TO 'sub/a.csv' CSV HEADER DELIMITER ';'",
    "COPY (SELECT 1 AS a) TO 'sub/a.csv' WITH (HEADER false, NULLSTR 'none')",
    "COPY (SELECT 1 AS a) TO 'sub/a.parquet' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 10000, KV_METADATA {a: 'b'})",
    "COPY (SELECT 1 AS a) TO 'sub/a.json' (FORMAT json, ARRAY true)",
    "ATTACH ':memory:' AS m; CREATE TABLE m.t AS SELECT 1; DETACH m",
  ];
  for (const one of fine) {
    const { text, isError } = await sql(one);
    expect([one, isError ? text : ""]).toEqual([one, ""]);
  }
});

test("a database's file is attached to be read", async () => {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(join(scene.workspace.root, "kept.db"));
  const connection = await instance.connect();
  await connection.run("CREATE TABLE t AS SELECT 42 AS n");
  connection.closeSync();
  instance.closeSync();
  expect((await sql("ATTACH 'kept.db' AS kept (READ_ONLY); FROM kept.t")).text).toContain("42");
});
