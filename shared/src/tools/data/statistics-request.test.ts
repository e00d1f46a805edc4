import { afterAll, beforeAll, expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import type { QueryResult } from "./database/database-protocol.ts";
import type { Databases, QueryOptions } from "./database/databases.ts";
import { statistics } from "./statistics.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
  await Bun.write(`${place.workspace.root}/a b.csv`, "a\n1\n");
});
afterAll(() => place[Symbol.asyncDispose]());

type Answer = readonly [types: Readonly<Record<string, string>>, rows: QueryResult["rows"], total?: number];
/** What the tool says when its columns have these types and rows, and the statements it asks. */
async function ask(request: object, [types, rows, total = rows.length]: Answer = [{}, []]) {
  const asked: (readonly [sql: string, bounds: QueryOptions])[] = [];
  const query = async (_: unknown, sql: string, bounds: QueryOptions): Promise<QueryResult> => {
    asked.push([sql, bounds]);
    const named = { columns: [], notes: [], files: [] };
    if (!sql.startsWith("DESCRIBE")) return { ...named, rows, total, notes: ["Mind."] };
    return { ...named, rows: Object.entries(types), total: 0 };
  };
  const context = contextForTest(place.workspace);
  const tool = statistics({ databases: { query } as unknown as Databases });
  const { text, isError } = await tool.call(request, context);
  return { text, isError, asked, signal: context.signal };
}

const two = "takes one column in y and one in x, or two in y";
const oneEach = "takes one column in y and one in x";
test.each<[string, readonly (readonly [y: number, x: number])[], string, readonly (readonly [number, number])[]]>([
  [
    "correlation",
    [
      [2, 0],
      [12, 0],
    ],
    "takes two or more columns in y and none in x",
    [
      [1, 0],
      [2, 1],
    ],
  ],
  [
    "t_test",
    [
      [1, 1],
      [2, 0],
      [1, 0],
    ],
    two,
    [
      [2, 1],
      [1, 2],
      [3, 0],
    ],
  ],
  [
    "mann_whitney",
    [
      [1, 1],
      [2, 0],
    ],
    two,
    [
      [1, 0],
      [2, 1],
      [1, 2],
      [3, 0],
    ],
  ],
  [
    "wilcoxon",
    [[2, 0]],
    "takes two columns in y: each row is a pair",
    [
      [1, 0],
      [3, 0],
      [2, 1],
      [1, 1],
    ],
  ],
  [
    "anova",
    [[1, 1]],
    oneEach,
    [
      [1, 0],
      [2, 0],
      [2, 1],
      [1, 2],
    ],
  ],
  [
    "kruskal_wallis",
    [[1, 1]],
    oneEach,
    [
      [1, 0],
      [2, 0],
      [2, 1],
      [1, 2],
    ],
  ],
  [
    "chi_square",
    [
      [1, 0],
      [1, 1],
    ],
    "takes one column in y and one, or none, in x",
    [
      [2, 0],
      [1, 2],
      [2, 1],
    ],
  ],
  [
    "regression",
    [
      [1, 1],
      [1, 12],
    ],
    "takes one column in y and the predictors in x",
    [
      [1, 0],
      [2, 1],
    ],
  ],
  [
    "confidence_interval",
    [
      [1, 0],
      [3, 0],
      [1, 1],
    ],
    "takes columns in y, or one in y and one in x",
    [
      [2, 1],
      [1, 2],
    ],
  ],
  [
    "outliers",
    [
      [1, 0],
      [1, 3],
    ],
    "takes one column in y; columns in x label the rows",
    [[2, 0]],
  ],
  [
    "decomposition",
    [[1, 1]],
    "takes one column in y and its time in x",
    [
      [1, 0],
      [2, 1],
      [1, 2],
    ],
  ],
])("%s takes the columns %j", async (name, taken, problem, refused) => {
  const request = ([y, x]: readonly [number, number]) => ({
    ...{ test: name, from: "a b.csv" },
    y: Array.from({ length: y }, (_, at) => `y${at}`),
    x: Array.from({ length: x }, (_, at) => `x${at}`),
  });
  for (const columns of taken) expect([columns, (await ask(request(columns))).asked.length]).toEqual([columns, 2]);
  for (const columns of refused) {
    const { text, isError, asked } = await ask(request(columns));
    expect([columns, isError, text, asked.length]).toEqual([columns, true, `${name} ${problem}.`, 0]);
  }
});

test("pairs are those of a t test of two columns", async () => {
  const request = { from: "a b.csv", paired: true };
  const problem = "paired goes with a t_test of two columns in y.";
  for (const more of [
    { test: "wilcoxon", y: ["a", "b"] },
    { test: "t_test", y: ["a"], x: ["b"] },
    { test: "t_test", y: ["a"] },
  ])
    expect([more, (await ask({ ...request, ...more })).text]).toEqual([more, problem]);
  expect((await ask({ ...request, test: "t_test", y: ["a", "b"] })).text).not.toContain(problem);
});

const bounds = { signal: expect.anything(), timeoutMs: 60_000, maxCharacters: 16 * 2 ** 20 };

/** A column as it is asked for: finite, or missing. */
const number = (name: string) =>
  `CASE WHEN isfinite(CAST(${name} AS DOUBLE)) THEN CAST(${name} AS DOUBLE) END AS ${name}`;

test("each column is read once, numbers of any kind as numbers, and a statement is read as a table", async () => {
  const types = { a: "DECIMAL(9,2)", b: "UHUGEINT", c: "VARCHAR", d: "FLOAT", 'q"e': "INTEGER" };
  const request = { test: "outliers", from: "a b.csv", y: ["a"], x: ["a", "b", "c", "d", 'q"e'] };
  const { asked, signal } = await ask(request, [types, []]);
  for (const [, { signal: passed }] of asked) expect(passed).toBe(signal);
  expect(asked).toEqual([
    [`DESCRIBE SELECT "a", "b", "c", "d", "q""e" FROM 'a b.csv'`, bounds],
    [`SELECT ${number('"a"')}, ${number('"b"')}, "c", ${number('"d"')}, ${number('"q""e"')} FROM 'a b.csv'`, bounds],
  ]);
  const from = async (text: string) => (await ask({ ...request, x: [], from: text })).asked.map(([sql]) => sql)[0];
  expect(await from(" SELECT a FROM t; ")).toBe('DESCRIBE SELECT "a" FROM (SELECT a FROM t)');
  expect(await from("with t AS (SELECT 1 AS a) FROM t")).toBe(
    'DESCRIBE SELECT "a" FROM (with t AS (SELECT 1 AS a) FROM t)',
  );
  expect((await ask({ ...request, from: "SELECT a FROM t; DELETE FROM t" })).asked).toEqual([]);
});

test("rows without a value are left out and counted, and what the files' reader must know is told", async () => {
  const rows: QueryResult["rows"] = [
    [1, "a"],
    [2, null],
    [null, "b"],
    [3, "c"],
    [null, null],
    [4, "d"],
  ];
  const { text } = await ask({ test: "outliers", from: "a b.csv", y: ["v"], x: ["w"] }, [{ v: "DOUBLE" }, rows]);
  expect(text).toContain("v: n = 3, mean 2.66667");
  expect(text).toContain("Rows left out because a value is missing: 3.\nNote: Mind.");
  const one = await ask({ test: "outliers", from: "a b.csv", y: ["v"] }, [{ v: "DOUBLE" }, [[1], [2], [null]]]);
  expect(one.text).toContain("Rows left out because a value is missing: 1.");
  const whole = await ask({ test: "outliers", from: "a b.csv", y: ["v"] }, [{ v: "DOUBLE" }, [[1], [2], [3]]]);
  expect(whole.text).not.toContain("left out");
});

test("a hundred thousand rows are read whole, and more, or fewer than there are, are refused", async () => {
  const request = { test: "outliers", from: "a b.csv", y: ["v"] };
  const numbers = (count: number): QueryResult["rows"] => Array.from({ length: count }, (_, at) => [at]);
  expect((await ask(request, [{}, numbers(100_000)])).text).toContain("n = 100000");
  for (const [count, total] of [
    [100_001, 100_001],
    [5, 6],
  ] as const)
    expect(await ask(request, [{}, numbers(count), total])).toMatchObject({
      isError: true,
      text: expect.stringContaining(`${total} rows, more than can be read here (100000, 16 MB).`),
    });
});

test("what the database says of columns is told without the statement it never saw", async () => {
  const query = async () => {
    throw new AppError("rejected", 'Binder Error: no "v"\nLINE 1: DESCRIBE SELECT "v"\n        ^');
  };
  const context = contextForTest(place.workspace);
  const tool = statistics({ databases: { query } as unknown as Databases });
  expect(await tool.call({ test: "outliers", from: "a b.csv", y: ["v"] }, context)).toEqual({
    isError: true,
    text: 'The columns of y and x could not be read. Binder Error: no "v"',
  });
});

test("two groups are compared, not one and not three, by their names or by the columns'", async () => {
  const request = { test: "mann_whitney", from: "a b.csv", y: ["v"], x: ["g"] };
  const rows = (...groups: readonly string[]): QueryResult["rows"] =>
    groups.flatMap((group, at) => [1, 2, 3].map((value) => [value + at, group]));
  const types = { v: "DOUBLE" };
  expect((await ask(request, [types, rows("b", "a")])).text).toStartWith(
    "Mann-Whitney test: are values of a larger or smaller than those of b?",
  );
  expect((await ask(request, [types, rows("a", "b", "c")])).text).toStartWith(
    "g has 3 groups (a, b, c); two are compared.",
  );
  const columns = { test: "t_test", from: "a b.csv", y: ["one", "two"] };
  const { text } = await ask(columns, [
    { one: "DOUBLE", two: "DOUBLE" },
    [
      [1, 5],
      [2, 7],
      [4, 6],
    ],
  ]);
  expect(text).toContain("difference of the means (one − two): -3.66667");
});

const series = (times: readonly (string | number)[]): Answer => [
  { v: "DOUBLE" },
  times.map((time, at) => [at % 2, time] as never),
];
test.each<[string, readonly (string | number)[], string | undefined]>([
  ["months", ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"], undefined],
  ["months with a gap", ["2024-01-01", "2024-02-01", "2024-04-01", "2024-05-01"], "2024-04-01"],
  ["numbers", [1, 2, 3, 4], undefined],
  ["numbers half as far again", [0, 2, 4, 7], undefined],
  ["numbers with two gaps", [1, 3, 4, 7], "3, 7"],
  ["words", ["a", "b", "c", "z"], undefined],
])("a series along %s is told as uneven where rows seem to be missing", async (_, times, before) => {
  const request = { test: "decomposition", from: "a b.csv", y: ["v"], x: ["t"], period: 2 };
  const { text } = await ask(request, series(times));
  const told = before === undefined ? undefined : `uneven times: rows seem to be missing before ${before}`;
  expect(text.split("\n").find((line) => line.startsWith("uneven"))).toBe(told as string);
});

test("a series needs its period, and a time once", async () => {
  const request = { test: "decomposition", from: "a b.csv", y: ["v"], x: ["t"] };
  expect((await ask(request, series([1, 2, 3, 4]))).text).toStartWith("Name the period:");
  const twice = await ask({ ...request, period: 2 }, series([4, 1, 2, 1]));
  expect(twice.text).toStartWith("t is 1 in several rows; a series has one value at a time");
});
