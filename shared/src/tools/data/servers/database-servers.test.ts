import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../../../core/tools/tool.ts";
import { type DataScene, dataScene } from "../../../testing/data/data.ts";
import { hasMariadb, noMariadb, startMariadb } from "../../../testing/data/mariadb-process.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../../testing/durable/postgres-process.ts";
import { sqlQuery } from "../sql-query.ts";
import type { DatabaseServer } from "./database-server.ts";
import { createDatabaseServers } from "./database-servers.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const usual = { description: undefined, readOnly: true, timeoutMs: 30_000, rows: 10_000 };

function toolFor(shop: Partial<DatabaseServer> & { readonly url: string }): Tool {
  return sqlQuery({ ...scene, servers: createDatabaseServers({ shop: { ...usual, ...shop } }) });
}

const ask = (tool: Tool, sql: string, more: object = {}) => scene.call(tool, { sql, database: "shop", ...more });

/** What every kind of server has to hold. `url` is a database with a table `things` of 120 rows. */
function suite(
  open: () => Promise<{ readonly url: string; count(): Promise<number> }>,
  {
    ending,
    endless,
    stopped,
  }: { readonly ending: readonly string[]; readonly endless: string; readonly stopped: string },
): void {
  let url = "";
  let count: () => Promise<number>;
  beforeAll(async () => ({ url, count } = await open()));

  test("a result is shown as a table, and a longer one is saved whole", async () => {
    const tool = toolFor({ url });
    const { text } = await ask(tool, "SELECT id, name, price FROM things WHERE id < 3 ORDER BY id");
    expect(text).toContain("id | name | price");
    expect(text).toMatch(/1 \| thing 1 \| 1\.50?\n2 \| thing 2 \| 3\.?0*\n\[2 rows\]/);
    const long = await ask(tool, "SELECT id FROM things ORDER BY id");
    const path = /\[120 rows, 50 shown; all: (\S+?)\]/.exec(long.text)?.[1] ?? "";
    expect((await scene.read(path)).trim().split(/\r\n/)).toHaveLength(121);
  });

  test("no more rows are read than the settings allow, and it is said that there are more", async () => {
    const { text } = await ask(toolFor({ url, rows: 60 }), "SELECT id FROM things ORDER BY id");
    expect(text).toContain("[more than 60 rows, 50 shown; the first 60 of them: ");
    expect(text).toContain("there are more");
    const all = await ask(toolFor({ url, rows: 120 }), "SELECT id FROM things ORDER BY id");
    expect(all.text).toContain("[120 rows, 50 shown; all: ");
  });

  test("a database that may only be read stays as it is, whatever the statement tries", async () => {
    const tool = toolFor({ url });
    const attempts = [
      "DELETE FROM things",
      "DROP TABLE things",
      "INSERT INTO things VALUES (999, 'x', 1)",
      ...ending.map((end) => `SELECT 1; ${end}; DELETE FROM things`),
      "COMMIT",
      "/*! DROP TABLE things */",
      // A change that answers like a query.
      "DELETE FROM things RETURNING id",
      "INSERT INTO things VALUES (998, 'x', 1) RETURNING id",
      "CREATE TABLE more AS SELECT * FROM things",
      "WITH old AS (DELETE FROM things RETURNING id) SELECT * FROM old",
    ];
    for (const sql of attempts) {
      await ask(tool, sql);
      expect([sql, await count()]).toEqual([sql, 120]);
    }
    const refused = await ask(tool, "DELETE FROM things", { write: true });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("databases.shop.read_only = false") });
    expect(await count()).toBe(120);
  });

  test("a change is made where the settings allow it, after a person was asked, and is one statement", async () => {
    const tool = toolFor({ url, readOnly: false });
    const change = { sql: "UPDATE things SET name = 'new' WHERE id <= 2", database: "shop", write: true };
    expect(tool.effect(change)).toBe("once");
    expect(tool.effect({ ...change, write: false })).toBe("pure");
    const context = { workspace: scene.workspace } as never;
    expect(await tool.risk?.(change, context)).toBe("changes data of the database shop");
    expect(await tool.risk?.({ ...change, write: false }, context)).toBeUndefined();
    expect((await ask(tool, change.sql, { write: true })).text).toBe("Done: 2 rows.");
    expect((await ask(tool, "SELECT id FROM things WHERE name = 'new'")).text).toContain("[2 rows]");
    const without = await ask(tool, "UPDATE things SET name = 'other'");
    expect(without.isError).toBe(true);
  });

  test("a statement that takes too long is ended, and one that is called off ends at once", async () => {
    const slow = await ask(toolFor({ url, timeoutMs: 500 }), endless);
    // By the server itself, which would go on otherwise.
    expect(slow).toMatchObject({ isError: true, text: expect.stringContaining(stopped) });
    const controller = new AbortController();
    const tool = toolFor({ url });
    const begun = scene.call(tool, { sql: endless, database: "shop" }, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("called off")), 300);
    await expect(begun).rejects.toThrow("called off");
  }, 60_000);
}

const counting =
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT max(i) FROM n";

const make = (sql: (statement: string) => unknown) =>
  (async () => {
    await sql("CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(40), price DECIMAL(10, 2))");
    const rows = Array.from(
      { length: 120 },
      (_, at) => `(${at + 1}, 'thing ${at + 1}', ${((at + 1) * 1.5).toFixed(2)})`,
    );
    await sql(`INSERT INTO things VALUES ${rows.join(", ")}`);
  })();

describe("SQLite", () => {
  suite(
    async () => {
      await mkdir(join(scene.home, "files"));
      const path = join(scene.home, "files/shop 1.db");
      const file = new Database(path);
      file.run("PRAGMA journal_mode = WAL");
      await make((sql) => file.run(sql));
      return {
        url: `sqlite://${encodeURI(path)}`,
        count: async () => Number(file.query("SELECT count(*) FROM things").values()[0]?.[0]),
      };
    },
    { ending: ["COMMIT"], endless: counting, stopped: "shop was stopped at its limit of 0.5 s." },
  );

  test("a change that is called off before its turn is not made", async () => {
    const path = join(scene.home, "called-off.db");
    const file = new Database(path);
    file.run("CREATE TABLE kept AS SELECT 1 AS n");
    const servers = createDatabaseServers({ shop: { ...usual, url: `sqlite://${path}`, readOnly: false } });
    const options = { write: true, maxCharacters: 1_000, signal: AbortSignal.abort(new Error("called off")) };
    await expect(servers.query("shop", "DELETE FROM kept", options)).rejects.toThrow("called off");
    expect(file.query("SELECT n FROM kept").values()).toEqual([[1]]);
    expect(() => servers.query("toString", "SELECT 1", options)).toThrow('There is no database "toString".');
  });

  test("values of every kind become text or numbers that lose nothing, and columns are of their first value's kind", async () => {
    const path = join(scene.home, "kinds.db");
    const file = new Database(path);
    file.run("CREATE TABLE kinds (big, exact, raw, empty, word)");
    file.run(
      "INSERT INTO kinds VALUES (NULL, 0.5, x'00ff', NULL, ''), (9007199254740993, 3, NULL, NULL, 'a'), (-7, 'one', x'', NULL, 'b')",
    );
    const servers = createDatabaseServers({ shop: { ...usual, url: `sqlite://${path}` } });
    const query = (sql: string, maxCharacters: number) =>
      servers.query("shop", sql, { write: false, signal: new AbortController().signal, maxCharacters });
    const all = await query("SELECT * FROM kinds", 10_000);
    expect(all.columns.map(({ type }) => type)).toEqual(["number", "number", "bytes", "unknown", "text"]);
    const rows = [
      [null, 0.5, "\\x00ff", null, ""],
      ["9007199254740993", 3, null, null, "a"],
      [-7, "one", "\\x", null, "b"],
    ];
    expect(all).toMatchObject({ rows, more: false });
    // The row that passes the limit is the last one.
    expect(await query("SELECT * FROM kinds", 30)).toMatchObject({ rows: rows.slice(0, 2), more: true });
  });

  test("an error that repeats the password says only that there is one, however it is written", async () => {
    const path = join(scene.home, "with-password.db");
    new Database(path).run("CREATE TABLE kept AS SELECT 1 AS n");
    const tool = toolFor({ url: `sqlite://user:p%20word@local${path}` });
    for (const password of ["p%20word", "p word"])
      expect((await ask(tool, `SELECT * FROM "${password}"`)).text).toContain("no such table: (secret)");
  });

  test("no other file is opened", async () => {
    const [own, other] = [join(scene.home, "own.db"), join(scene.home, "other.db")];
    for (const path of [own, other]) new Database(path).run("CREATE TABLE secrets AS SELECT 'hidden' AS word");
    const tool = toolFor({ url: `sqlite://${own}`, readOnly: false });
    for (const write of [false, true])
      for (const sql of [
        `ATTACH '${other}' AS o`,
        `SELECT 1; ATTACH '${other}' AS o`,
        `VACUUM INTO '${other}.copy'`,
        `-- x\n /* y */;VACUUM INTO '${other}.copy'`,
        `/* x */VACUUM INTO '${other}.copy'`,
      ])
        await ask(tool, sql, { write });
    expect((await ask(tool, "SELECT * FROM o.secrets")).text).toContain("no such table");
    expect(await Bun.file(`${other}.copy`).exists()).toBe(false);
    const readfile = await ask(tool, "SELECT readfile('/etc/hostname')");
    expect(readfile.text).toContain("no such function");
  });
});

describe.skipIf(postgresPrograms === undefined)(postgresPrograms === undefined ? noPostgres : "PostgreSQL", () => {
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let sql: Bun.SQL;
  afterAll(async () => {
    await sql.close();
    await server.stop();
    await server[Symbol.asyncDispose]();
  });
  suite(
    async () => {
      server = await startPostgres();
      sql = new Bun.SQL(server.url, { max: 1 });
      await make((text) => sql.unsafe(text));
      return { url: server.url, count: async () => Number((await sql`SELECT count(*) AS n FROM things`)[0].n) };
    },
    {
      ending: ["COMMIT", "END", "ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"],
      endless: counting,
      stopped: "statement timeout",
    },
  );

  test("values of every kind become text or numbers that lose nothing", async () => {
    const { text } = await ask(
      toolFor({ url: server.url }),
      "SELECT 9007199254740993::bigint AS big, 0.1::numeric AS exact, timestamptz '2024-01-02 03:04:05Z' AS at, '\\x00ff'::bytea AS raw, '{\"a\":[1]}'::jsonb AS doc, NULL::int AS none, true AS yes, 'NaN'::float8 AS odd",
    );
    expect(text).toContain(
      '9007199254740993 | 0.1 | 2024-01-02T03:04:05.000Z | \\x00ff | {"a":[1]} | NULL | true | NaN',
    );
  });

  test("of a long result no more rows are asked for than are told, and the transaction only reads", async () => {
    const state = "SELECT statement, current_setting('transaction_read_only') AS only FROM pg_cursors";
    const { text } = await ask(toolFor({ url: server.url, rows: 7 }), state);
    expect(text).toMatch(/DECLARE answer NO SCROLL CURSOR FOR .*\| on\n/);
    // A change may begin like a query.
    const change = "WITH gone AS (DELETE FROM things WHERE id > 5000 RETURNING id) SELECT count(*) AS n FROM gone";
    const changed = await ask(toolFor({ url: server.url, readOnly: false }), change, { write: true });
    expect(changed).toMatchObject({ isError: false, text: expect.stringContaining("\n0\n[1 row]") });
  });

  test("the password is never in an error", async () => {
    const url = server.url.replace("postgres@", "nobody:s3cret-word@");
    const { text, isError } = await ask(toolFor({ url }), "SELECT 1");
    expect(isError).toBe(true);
    expect(text).not.toContain("s3cret-word");
  });
});

describe.skipIf(!hasMariadb)(hasMariadb ? "MariaDB" : noMariadb, () => {
  let server: Awaited<ReturnType<typeof startMariadb>>;
  let sql: Bun.SQL;
  afterAll(async () => {
    await sql.close();
    await server[Symbol.asyncDispose]();
  });
  suite(
    async () => {
      server = await startMariadb();
      sql = new Bun.SQL(server.url, { max: 1 });
      await make((text) => sql.unsafe(text));
      return { url: server.url, count: async () => Number((await sql`SELECT count(*) AS n FROM things`)[0].n) };
    },
    {
      ending: ["COMMIT", "SET SESSION TRANSACTION READ WRITE"],
      endless: "SELECT count(*) FROM things a, things b, things c, things d, things e",
      stopped: "max_statement_time",
    },
  );
});

test("the model is told which databases there are, and neither it nor the sandbox where", async () => {
  const servers = createDatabaseServers({
    shop: { ...usual, url: "postgres://u:s3cret-word@db.internal/shop", description: "orders since 2020" },
    notes: { ...usual, url: "sqlite:///srv/notes.db", readOnly: false },
  });
  const tool = sqlQuery({ ...scene, servers });
  expect(tool.description).toContain("shop (PostgreSQL: orders since 2020), notes (SQLite; write: true changes it)");
  expect(JSON.stringify(tool)).not.toMatch(/s3cret-word|db\.internal|srv/);
  const unknown = await scene.call(tool, { sql: "SELECT 1", database: "other" });
  expect(unknown.text).toContain('expected one of "shop"|"notes"');
  await writeFile(join(scene.workspace.root, "a.csv"), "n\n5\n");
  expect((await scene.call(tool, { sql: "SELECT n FROM 'a.csv'" })).text).toContain("5");
});
