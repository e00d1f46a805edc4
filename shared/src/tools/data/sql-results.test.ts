import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import type { QueryResult } from "./database/database-protocol.ts";
import type { Databases } from "./database/databases.ts";
import { describeData } from "./describe-data.ts";
import type { DatabaseServers } from "./servers/database-servers.ts";
import { sqlQuery } from "./sql-query.ts";

type Rows = QueryResult["rows"];
const result = (more: Partial<QueryResult> = {}): QueryResult => ({
  ...{ columns: [{ name: "n", type: "INTEGER" }], rows: [], total: more.rows?.length ?? 0, notes: [], files: [] },
  ...more,
});
const rows = (count: number): Rows => Array.from({ length: count }, (_, at) => [at]);
const column = (name: string) => ({ columns: [{ name, type: "T" }] });

/** What the tool says of a database's answer, what was asked, kept and handed over. */
async function ask(
  input: { readonly sql: string; readonly [name: string]: unknown },
  answer: Partial<QueryResult> = {},
  servers?: Partial<DatabaseServers>,
) {
  const [asked, kept, adopted]: [unknown[], string[], string[]] = [[], [], []];
  const workspace = {
    root: "/none",
    adopt: async (path: string) => void adopted.push(path),
    async spill(name: string, content: string) {
      kept.push(content);
      return `kept/${name}`;
    },
  } as never;
  const query = async (...call: unknown[]) => {
    asked.push(call);
    return result(answer);
  };
  const tool = sqlQuery({
    databases: { query } as unknown as Databases,
    ...(servers && { servers: { listed: [{ name: "shop", about: "SQLite", readOnly: true }], ...servers } as never }),
  });
  const context = contextForTest(workspace);
  const { text, isError } = await tool.call(input, context);
  return { text, isError, asked, kept, adopted, workspace, signal: context.signal };
}
const said = async (sql: string, answer: Partial<QueryResult>) => (await ask({ sql }, answer)).text;

test.each<[string, Partial<QueryResult>, string]>([
  ["DROP TABLE t", { ...column("Success"), instead: "nothing" }, "Done."],
  ["SELECT", { ...column("Success"), rows: [[true]] }, "Success\nT\ntrue\n[1 row]"],
  ["SELECT", column("n"), "n\nT\n[0 rows]"],
  ["INSERT INTO t VALUES (1)", { ...column("Count"), rows: [["1"]], instead: "count" }, "Done: 1 row."],
  [" update t SET n = 1", { ...column("Count"), rows: [[0]], instead: "count" }, "Done: 0 rows."],
  ["MERGE INTO t", { ...column("Count"), rows: [["12"]], instead: "count" }, "Done: 12 rows."],
  ["DELETE FROM t;", { ...column("Count"), rows: [[3]], instead: "count" }, "Done: 3 rows."],
  // The last of several statements has a result of its own.
  ["DELETE FROM t; SELECT 5 AS Count", { ...column("Count"), rows: [[5]] }, "Count\nT\n5\n[1 row]"],
  ["SELECT 5 AS Count", { ...column("Count"), rows: [[5]] }, "Count\nT\n5\n[1 row]"],
  ["COPY t TO 'a.csv'", { ...column("n"), rows: [[5]] }, "n\nT\n5\n[1 row]"],
  ["SELECT", { rows: [[1]], notes: ["One.", "Two."] }, "n\nINTEGER\n1\n[1 row]\nNote: One.\nNote: Two."],
  ["DROP TABLE t", { columns: [], notes: ["One."], instead: "nothing" }, "Done.\nNote: One."],
])("of the statement %j the answer %j is told as %j", async (sql, answer, text) => {
  expect(await said(sql, answer)).toBe(text);
});

test("a statement has its limits, a minute unless it is said, and goes on as long as its task", async () => {
  const { asked, workspace, signal } = await ask({ sql: "SELECT 1" });
  const [first] = asked as [[unknown, string, { readonly signal: AbortSignal }]];
  const bounds = { signal: expect.anything(), timeoutMs: 60_000, maxCharacters: 16 * 2 ** 20 };
  expect(first).toEqual([workspace, "SELECT 1", bounds]);
  expect(first[2].signal).toBe(signal);
  const [call] = (await ask({ sql: "SELECT 1", timeout: 0.5 })).asked as [readonly unknown[]];
  expect(call[2]).toMatchObject({ timeoutMs: 500 });
  for (const timeout of [0, -1, 601]) expect(await ask({ sql: "SELECT 1", timeout })).toMatchObject({ asked: [] });
});

test("files that a statement may have written are handed over, those of one that reads are not", async () => {
  expect((await ask({ sql: "COPY t TO 'a.csv'" })).adopted).toEqual(["."]);
  expect((await ask({ sql: "SELECT 1" })).adopted).toEqual([]);
});

test("more than fifty rows are kept in a file, with how many there are", async () => {
  const all = await ask({ sql: "SELECT" }, { rows: rows(51) });
  expect(all.text).toEndWith("\n49\n[51 rows, 50 shown; all: kept/result.csv]");
  expect(all.kept.map((one) => one.split("\r\n").length)).toEqual([53]);
  const some = await ask({ sql: "SELECT" }, { rows: rows(51), total: 90 });
  expect(some.text).toEndWith("[90 rows, 50 shown; the first 51 of them: kept/result.csv; use COPY … TO for all]");
  const few = await ask({ sql: "SELECT" }, { rows: rows(3), total: 4 });
  expect(few.text).toEndWith("[4 rows, 3 shown; the first 3 of them: kept/result.csv; use COPY … TO for all]");
  expect((await ask({ sql: "SELECT" }, { rows: rows(50) })).kept).toEqual([]);
});

test("a server is asked with what the call says, and its answer told by what is known of it", async () => {
  const asked: unknown[] = [];
  const answering = (answer: object) => ({
    async query(...call: readonly unknown[]) {
      asked.push(call);
      return { columns: [{ name: "n", type: "number" }], rows: [], more: false, changed: 0, ...answer } as never;
    },
  });
  const shop = { sql: "SELECT 1", database: "shop" };
  const first = await ask({ ...shop, write: true }, {}, answering({ rows: [[1]] }));
  expect(first.text).toBe("n\nnumber\n1\n[1 row]");
  expect([first.asked, asked]).toEqual([
    [],
    [["shop", "SELECT 1", { write: true, signal: expect.anything(), maxCharacters: 16 * 2 ** 20 }]],
  ]);
  expect((asked as [[string, string, { readonly signal: AbortSignal }]])[0][2].signal).toBe(first.signal);
  const told = async (answer: object, sql = "SELECT 1") => (await ask({ ...shop, sql }, {}, answering(answer))).text;
  expect(await told({ columns: [], changed: 1 }, "INSERT INTO t VALUES (1)")).toBe("Done: 1 row.");
  expect(await told({ columns: [], changed: 0 }, "update t SET n = 1")).toBe("Done: 0 rows.");
  expect(await told({ columns: [], changed: 0 }, "CREATE TABLE t (n INT)")).toBe("Done.");
  expect(await told({ rows: rows(2), more: true })).toEndWith(
    "[more than 2 rows, 2 shown; the first 2 of them: kept/result.csv; there are more: add up or choose in the statement]",
  );
  expect(await told({ rows: rows(51) })).toEndWith("[51 rows, 50 shown; all: kept/result.csv]");
  expect(asked.at(-1)).toMatchObject(["shop", "SELECT 1", { write: false }]);
  // Without a server's name the files are asked, whatever else is said.
  expect((await ask({ sql: "SELECT 1", write: true }, {}, answering({}))).asked).toHaveLength(1);
});

test("a call is repeated, and needs a person, by what it does where", async () => {
  const servers = { listed: [{ name: "shop", about: "SQLite", readOnly: false }] } as unknown as DatabaseServers;
  const tool = sqlQuery({ databases: {} as Databases, servers });
  const calls = [
    { sql: "SELECT 1", write: true },
    { sql: "DROP TABLE t", write: false },
    { sql: "DROP TABLE t", database: "shop", write: false },
    { sql: "SELECT 1", database: "shop", write: true },
  ];
  const effects = calls.map((call) => tool.effect(call));
  const risks = await Promise.all(calls.map((call) => tool.risk?.(call, {} as never)));
  expect([effects, risks]).toEqual([
    ["pure", "once", "pure", "once"],
    [undefined, undefined, undefined, "changes data of the database shop"],
  ]);
  expect(sqlQuery({ databases: {} as Databases, servers: { listed: [] } as never }).inputSchema).not.toHaveProperty(
    "properties.database",
  );
});

test("a description asks with two minutes' time, as long as its task goes on", async () => {
  const asked: { readonly signal: AbortSignal }[] = [];
  const query = async (_: unknown, __: unknown, bounds: { readonly signal: AbortSignal }) => {
    asked.push(bounds);
    throw new AppError("rejected", "no");
  };
  const { workspaceForTest } = await import("../../testing/machine/workspace.ts");
  await using place = await workspaceForTest();
  await Bun.write(`${place.workspace.root}/a.csv`, "a\n1\n");
  const context = contextForTest(place.workspace);
  await describeData({ databases: { query } as unknown as Databases }).call({ path: "a.csv" }, context);
  expect(asked).toEqual([{ signal: expect.anything(), timeoutMs: 120_000 }] as never);
  expect(asked[0]?.signal).toBe(context.signal);
});
