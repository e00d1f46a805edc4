import { afterAll, beforeAll, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type DataScene, dataScene } from "../../testing/data/data.ts";
import { sqlEffect, sqlQuery } from "./sql-query.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  await scene.write("sales.csv", "region,amount\nnorth,10\nsouth,20\nnorth,5\n");
  await scene.write("people.json", '[{"name":"李","age":0},{"name":"","age":null}]');
});
afterAll(() => scene[Symbol.asyncDispose]());

const sql = (text: string, timeout?: number) => scene.call(sqlQuery(scene), { sql: text, timeout: timeout ?? null });

test("a query over a CSV file answers with columns, types, rows and their number", async () => {
  const { text, isError } = await sql("SELECT region, sum(amount) AS total FROM 'sales.csv' GROUP BY ALL ORDER BY ALL");
  expect(isError).toBe(false);
  expect(text).toBe("region | total\nVARCHAR | HUGEINT\nnorth | 15\nsouth | 20\n[2 rows]");
});

test("0, an empty text and NULL are distinct", async () => {
  const { text } = await sql("FROM 'people.json'");
  expect(text.split("\n").slice(2)).toEqual(["李 | 0", " | NULL", "[2 rows]"]);
});

test("COPY writes Parquet into the workspace, which the next query reads", async () => {
  const { isError, text } = await sql("COPY (FROM 'sales.csv') TO 'sales.parquet'");
  expect([isError, text]).toEqual([false, expect.stringMatching(/^Done: \d rows\.$/)]);
  expect((await sql("SELECT 5 AS Count WHERE 'x' <> 'delete'")).text).toEndWith("5\n[1 row]");
  expect((await sql("SELECT count(*) AS n FROM 'sales.parquet'")).text).toContain("\n3\n");
});

test("a PIVOT's output is counted in rows, and of several statements the last one with a result is shown", async () => {
  await scene.write("years.csv", "year,month,n\n2023,1,5\n2023,2,6\n2024,1,7\n2024,2,8\n2024,3,9\n");
  const pivot = "PIVOT 'years.csv' ON year USING sum(n) GROUP BY month";
  expect((await sql(`COPY (${pivot} ORDER BY month) TO 'wide.csv'`)).text).toBe("Done: 3 rows.");
  expect(await scene.read("wide.csv")).toBe("month,2023,2024\n1,5,7\n2,6,8\n3,,9\n");
  expect((await sql(`CREATE TABLE wide AS ${pivot}`)).text).toBe(
    "Done. The table wide has 3 rows and the columns month BIGINT, 2023 HUGEINT, 2024 HUGEINT.",
  );
  expect((await sql(`${pivot} ORDER BY month`)).text).toStartWith("month | 2023 | 2024\n");
  expect(
    (await sql("CREATE TABLE two (a INT); INSERT INTO two VALUES (1), (2); SELECT sum(a) AS s FROM two")).text,
  ).toContain("\n3\n");
});

test("rows of data are shown whatever is written after them, and of several SELECTs it is said which are not", async () => {
  const written = await sql("SELECT 41 + 1 AS n; COPY (SELECT 1 AS a) TO 'one.csv'");
  expect(written.text).toBe("n\nINTEGER\n42\n[1 row]");
  expect(await scene.read("one.csv")).toBe("a\n1\n");
  const twice = await sql("SELECT 1 AS a; SELECT 2 AS b; SELECT 3 AS c");
  expect(twice.text).toBe(
    "c\nINTEGER\n3\n[1 row]\n[The results of 2 earlier SELECTs are not shown: one SELECT a call.]",
  );
});

const wide = Array.from({ length: 43 }, (_, at) => `c${at} INT`).join(", ");
test.each<[string, string]>([
  ["CREATE TABLE Items (a INT, b TEXT)", "Done. The table Items has 0 rows and the columns a INTEGER, b VARCHAR."],
  ["create or replace temp table one as select 1 as n", "Done. The table one has 1 row and the columns n INTEGER."],
  ["CREATE TABLE IF NOT EXISTS one (other TEXT)", "Done. The table one has 1 row and the columns n INTEGER."],
  ['-- a view\nCREATE VIEW "my view" AS FROM one', 'Done. The view "my view" has the columns n INTEGER.'],
  [
    "CREATE TABLE x (n INT); INSERT INTO x VALUES (1), (2)",
    "Done: 2 rows. The table x has 2 rows and the columns n INTEGER.",
  ],
  ["CREATE TABLE gone (n INT); DROP TABLE gone", "Done."],
  ["CREATE SCHEMA sc; CREATE TABLE sc.t (n INT)", "Done. The table sc.t has 0 rows and the columns n INTEGER."],
  [`CREATE TABLE broad (${wide})`, "c39 INTEGER, … 3 more."],
  ["WITH q AS (SELECT 3 AS n) INSERT INTO x FROM q", "Done: 1 row."],
  ["UPDATE x SET n = 0 WHERE 'create table x' = ''", "Done: 0 rows."],
  ["INSERT INTO x FROM x WHERE false RETURNING *", "n\nINTEGER\n[0 rows]"],
  ["CREATE INDEX of_x ON x(n)", "Done."],
  ["ALTER TABLE x ADD COLUMN m INT", "Done."],
  ['DROP VIEW "my view"', "Done."],
])("a statement without rows of data says what it did: %s", async (statement, told) => {
  expect((await sql(statement)).text).toEndWith(told);
});

test("a table persists between calls", async () => {
  expect((await sql("CREATE TABLE kept AS FROM 'sales.csv'")).isError).toBe(false);
  expect((await sql("SELECT max(amount) AS most FROM kept")).text).toContain("20");
});

test("of a long result the head is shown, and a CSV file has all of it", async () => {
  const { text } = await sql("SELECT i, 'a,\"b' AS t FROM range(3000) r(i)");
  const path = /all: (\S+)\]/.exec(text)?.[1] ?? "";
  expect(text).toContain("[3000 rows, 50 shown");
  const lines = (await scene.read(path)).split("\r\n");
  expect(lines).toHaveLength(3002);
  expect(lines[3000]).toBe('2999,"a,""b"');
});

test("wide and long cells are cut", async () => {
  const columns = Array.from({ length: 60 }, (_, at) => `${at} AS c${at}`).join(", ");
  expect((await sql(`SELECT ${columns}`)).text).toContain("… 20 more columns");
  expect((await sql("SELECT repeat('x', 5000) AS x")).text.length).toBeLessThan(2_100);
  expect((await sql("SELECT repeat('x', 5000) AS x FROM range(50)")).text.length).toBeLessThan(50 * 130);
});

test("an error is the database's own, with the place", async () => {
  const { text, isError } = await sql("SELECT amout FROM 'sales.csv'");
  expect(isError).toBe(true);
  expect(text).toContain('Candidate bindings: "amount"');
});

test("a unit of time as a name without AS is told what it needs", async () => {
  expect((await sql("SELECT count(*) months FROM 'sales.csv'")).text).toContain(
    '"months" is a unit of time here: as a name it needs AS',
  );
  expect((await sql("SELECT count(*) AS months FROM 'sales.csv'")).isError).toBe(false);
});

test("a file that is not UTF-8 is refused with a way to read it that loses no rows", async () => {
  await Bun.write(
    join(scene.workspace.root, "gbk.csv"),
    new Uint8Array([...Buffer.from("a,b\n"), 0xc9, 0xcf, 0x2c, 0x31, 0x0a]),
  );
  const { text, isError } = await sql("FROM 'gbk.csv'");
  expect({ text, isError }).toEqual({
    isError: true,
    text: expect.stringContaining("read_csv('IN.csv', encoding = 'gb18030')"),
  });
  expect(text).not.toContain("ignore_errors");
});

test("nothing outside the workspace is read, by path, symlink, glob or .., and nothing is written there", async () => {
  await symlink("/etc/passwd", join(scene.workspace.root, "innocent.csv"));
  await Bun.write(join(scene.home, "secret.csv"), "a\ncanary\n");
  const attacks = [
    "FROM read_text('/etc/passwd')",
    "FROM read_csv('/etc/passwd')",
    "FROM read_text('innocent.csv')",
    "FROM glob('/etc/*')",
    `FROM '${scene.home}/secret.csv'`,
    "FROM read_text('../../../secret.csv')",
    "FROM read_blob('/proc/self/environ')",
    "FROM 'http://127.0.0.1:9/x.csv'",
    "INSTALL httpfs",
    "INSTALL excel",
    "LOAD sqlite",
    "FORCE INSTALL spatial FROM 'http://127.0.0.1:9'",
    "SET autoinstall_known_extensions = true",
    "SET custom_extension_repository = '/tmp'",
    "ATTACH 'x.db' (TYPE sqlite)",
    "CREATE SECRET (TYPE s3)",
    "COPY (SELECT 1) TO '/dev/shm/out.csv'",
    "COPY (SELECT 1) TO 'http://127.0.0.1:9/out.csv'",
    "FROM read_text('innocent.csv/../../../../../../etc/passwd')",
    "LOAD '/tmp/evil.duckdb_extension'",
    `ATTACH '${scene.home}/outside.db'`,
    `COPY (SELECT 1) TO '${scene.home}/out.csv'`,
    `EXPORT DATABASE '${scene.home}/out'`,
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "PRAGMA enable_profiling='json'; PRAGMA profiling_output='/tmp/manyhands-out.json'",
  ];
  for (const attack of attacks) {
    const { text, isError } = await sql(attack);
    expect({ attack, isError }).toEqual({ attack, isError: true });
    expect(text).not.toMatch(/root:x|canary/);
  }
  for (const name of ["out.csv", "out", "outside.db"])
    expect(await Bun.file(join(scene.home, name)).exists()).toBe(false);
});

test("the database's process has nothing of the server's environment", async () => {
  process.env.CANARY_FOR_DATABASE = "canary-value";
  const { text } = await sql("SELECT * FROM duckdb_settings()");
  delete process.env.CANARY_FOR_DATABASE;
  expect(text).not.toContain("canary-value");
  expect((await sql("SELECT getenv('CANARY_FOR_DATABASE')")).isError).toBe(true);
});

test("an endless join is stopped at its limit, and the next query is answered", async () => {
  const { text, isError } = await sql("SELECT count(*) FROM range(1000000) a, range(1000000) b, range(9) c", 0.5);
  expect(isError).toBe(true);
  expect(text).toBe("The query was stopped at its limit of 0.5 s.");
  expect((await sql("SELECT 1 AS one")).isError).toBe(false);
});

test("a query that needs too much memory fails at its limit, and the next is answered", async () => {
  const { text, isError } = await sql("SELECT list(repeat('x', 1000) || i) FROM range(10000000) t(i)");
  expect(isError).toBe(true);
  expect(text).toStartWith("Out of Memory Error");
  expect(text).not.toContain("temp_directory");
  expect((await sql("SELECT 1 AS one")).isError).toBe(false);
});

test("an abort ends the query with the signal's own reason", async () => {
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const query = "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(9) c";
  const call = scene.call(sqlQuery(scene), { sql: query }, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 300);
  const begun = performance.now();
  await expect(call).rejects.toBe(reason);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect((await sql("SELECT 1 AS one")).isError).toBe(false);
});

test("statements that only read may be repeated, others may not", () => {
  for (const text of ["SELECT 1", "with a as (select 1) from a", " FROM 'x.csv';", "DESCRIBE t", "SUMMARIZE 'x.csv'"])
    expect(sqlEffect(text)).toBe("pure");
  for (const text of [
    "COPY t TO 'x.csv'",
    "CREATE TABLE t AS SELECT 1",
    "SELECT 1; DROP TABLE t",
    "INSERT INTO t VALUES (1)",
  ])
    expect(sqlEffect(text)).toBe("once");
});

test.each(
  "copy create insert update delete drop alter attach detach export import merge truncate call set use load install checkpoint vacuum nextval pragma".split(
    " ",
  ),
)("a statement with the word %s in it is not repeated, even if it begins by reading", (word) => {
  expect(sqlEffect(`WITH a AS (SELECT 1) ${word} x`)).toBe("once");
  expect(sqlEffect(`SELECT ${word}s, my_${word} FROM a`)).toBe("pure");
});

test.each("select with from describe summarize show explain values pivot unpivot table".split(" "))(
  "a statement that begins with %s may be repeated",
  (word) => {
    expect([sqlEffect(`${word} a`), sqlEffect(` ${word.toUpperCase()} a; `), sqlEffect(`${word}s a`)]).toEqual([
      "pure",
      "pure",
      "once",
    ]);
  },
);

test("what a statement changes is not looked for in its texts and names, unless these may hide it", () => {
  const read = "SELECT \"set\", 'it''s; drop' FROM read_csv('update.csv', delim=';', header=true)";
  expect(sqlEffect(read)).toBe("pure");
  for (const hidden of [
    "$$'$$; DROP TABLE t; SELECT '1'",
    "1 -- '\n; DROP TABLE t -- '",
    "1 /* ' */; DROP TABLE t --'",
  ])
    expect(sqlEffect(`SELECT ${hidden}`)).toBe("once");
  expect(sqlEffect("SELECT e'\\''; DROP TABLE t; SELECT ''")).toBe("once");
  expect(sqlEffect("SELECT 'a'; DROP TABLE t; SELECT 'b'")).toBe("once");
});

test("fifty rows are shown without a file, of one more all are kept in one", async () => {
  const last = async (rows: number) => (await sql(`FROM range(${rows})`)).text.split("\n").at(-1);
  expect(await last(1)).toBe("[1 row]");
  expect(await last(50)).toBe("[50 rows]");
  expect(await last(51)).toMatch(/^\[51 rows, 50 shown; all: \S+\.csv\]$/);
});

test("of rows that are too long to be kept whole it is said how many are, however few they are", async () => {
  const { text } = await sql("SELECT repeat('x', 400000) AS x FROM range(44)");
  expect(text.split("\n").at(-1)).toMatch(
    /^\[44 rows, 42 shown; the first 42 of them: \S+\.csv; use COPY … TO for all\]$/,
  );
});
