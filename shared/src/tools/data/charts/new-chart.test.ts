import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import type { QueryResult } from "../database/database-protocol.ts";
import type { Databases, QueryOptions } from "../database/databases.ts";
import * as drawing from "./draw-chart.ts";
import { markedChart } from "./marked-chart.ts";
import { newChart } from "./new-chart.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
  await Bun.write(join(place.workspace.root, "a b.csv"), "x");
  await Bun.write(join(place.workspace.root, "visualization/c.csv"), "x");
  await Bun.write(join(place.workspace.root, "visualization/a b.csv"), "x");
});
afterAll(() => place[Symbol.asyncDispose]());

type Item = Parameters<typeof newChart>[1];
type Answer = Partial<QueryResult> & { readonly count?: number };
const columns = [
  { name: "day", type: "DATE" },
  { name: "n", type: "BIGINT" },
  { name: "shop", type: "VARCHAR" },
];
const days = (count: number): QueryResult["rows"] =>
  Array.from({ length: count }, (_, at) => [`2024-01-${String(at + 1).padStart(2, "0")}`, 10 * at, `s${at}`]);

/** What a chart of these rows is drawn as, what is said of it, and the statements that read it. */
async function draw(item: Partial<Item>, { count = 0, ...answer }: Answer = {}, language: "en" | "zh" = "en") {
  const [asked, bounds]: [string[], QueryOptions[]] = [[], []];
  const rows = answer.rows ?? days(12);
  const query = async (_: unknown, sql: string, options: QueryOptions): Promise<QueryResult> => {
    asked.push(sql);
    bounds.push(options);
    if (sql.startsWith("SELECT count(*) FROM"))
      return { columns, rows: [[String(count)]], total: 1, notes: [], files: [] };
    return { columns, rows, total: rows.length, notes: ["Mind."], files: [], ...answer };
  };
  const image = { type: "image", mediaType: "image/png", data: "x" } as const;
  using spy = spyOn(drawing, "drawChart").mockResolvedValue({ path: "the picture", warning: "No font.", image });
  const context = contextForTest(place.workspace);
  const whole = { csvFilePath: "a b.csv", chartTitle: "T", ...item } as Item;
  const databases = { query } as unknown as Databases;
  const { text, image: seen } = await newChart({ databases }, whole, { output: "svg", language }, context);
  const [given, base = "", chart, output] = spy.mock.calls[0] ?? [];
  for (const { signal } of bounds) expect(signal).toBe(context.signal);
  expect([given === context, output, seen]).toEqual([true, "svg", image]);
  return { text, base, chart, asked, bounds };
}

test("of a column left out because its numbers are written as text the chart says so, unless y names another", async () => {
  const rows: QueryResult["rows"] = days(3).map(([day = "", n = ""]) => [day, n, "1.234,56"]);
  const { text } = await draw({}, { rows });
  expect(text).toContain(
    'not drawn: column shop.\nNote: Mind.\nshop holds numbers written as text, such as "1.234,56"',
  );
  expect((await draw({ y: ["n"] }, { rows })).text).not.toContain("written as text");
});

test("a chart says where it is, what was drawn, what is to be minded and what was found", async () => {
  const { text, base, chart, asked, bounds } = await draw({ y: ["n"] });
  const [head, drawn, ...more] = text.split("\n");
  expect(head).toBe("Chart saved in: the picture (its data: visualization/a b.json)");
  expect(drawn).toBe("Drawn: line, x = day, y = n, 12 points; not drawn: column shop.");
  expect(more.slice(0, 3)).toEqual([
    "Note: Mind.",
    "No font.",
    "Findings, clearest first, also in visualization/a b.md:",
  ]);
  expect(more[3]).toStartWith("1. n rises on the whole from 2024-01-01 to 2024-01-12, by about 10 a step");
  expect(base).toBe("visualization/a b");
  expect(chart).toMatchObject({ title: "T", language: "en", csvFilePath: "a b.csv", shown: [] });
  expect(chart?.columns.map(({ name }) => name)).toEqual(["day", "n"]);
  expect([chart?.roles, chart?.insights[0]?.text]).toEqual([
    { along: 0, measures: [1], parts: undefined },
    more[3]?.slice(3),
  ]);
  expect(asked).toEqual(["FROM 'a b.csv' LIMIT 5001"]);
  expect(bounds[0]?.maxCharacters).toBe(4 * 2 ** 20);
  const chinese = await draw({ y: ["n"] }, {}, "zh");
  expect([chinese.chart?.language, chinese.text.includes("总体上升")]).toEqual(["zh", true]);
});

test("rows along time are in its order, whatever that of the file is", async () => {
  const { chart } = await draw({ y: ["n"] }, { rows: days(3).toReversed() });
  expect(chart?.rows.map(([day]) => day)).toEqual(["2024-01-01", "2024-01-02", "2024-01-03"]);
});

test("a series stands between its place and its measure, and rows without numbers are counted", async () => {
  const { chart } = await draw({ x: "day", y: ["n"], series: "shop" });
  expect([chart?.columns.map(({ name }) => name), chart?.roles]).toEqual([
    ["day", "shop", "n"],
    { along: 0, parts: 1, measures: [2] },
  ]);
  const cities = { columns: [{ name: "city", type: "VARCHAR" }], rows: [["Rome"], ["Oslo"]] };
  expect((await draw({}, cities)).asked[1]).toContain(
    `SELECT "city", count(*) AS "count" FROM (SELECT *, row_number() OVER () AS "row of the file" FROM`,
  );
  expect((await draw({}, cities)).asked[1]).toContain(`ORDER BY count(*) DESC, min("row of the file")`);
});

test("another chart of the file is kept, unless the name is given", async () => {
  const kept = Bun.file(join(place.workspace.root, "visualization/a b.json"));
  const other = {
    title: "Other",
    language: "en",
    csvFilePath: "a b.csv",
    spec: {},
    columns: [],
    rows: [],
    insights: [],
  };
  await kept.write(JSON.stringify({ ...other, shown: [] }));
  expect((await draw({ y: ["n"] })).base).toBe("visualization/a b_2");
  expect((await draw({ y: ["n"], name: "a b" })).base).toBe("visualization/a b");
  await kept.delete();
});

test("rows beyond five thousand are counted, and told as not read", async () => {
  const rows: QueryResult["rows"] = Array.from({ length: 5_001 }, (_, at) => [`2024-01-01 00:${at}`, at, "s"]);
  const { text, chart, asked } = await draw({ chart: "scatter", x: "n", y: ["n"] } as Partial<Item>, {
    rows,
    count: 5_003,
  });
  expect(text).toContain("Only the first 5000 of 5003 rows were read. Sum the data up first.");
  expect([chart?.rows.length, asked[1]]).toEqual([5_000, "SELECT count(*) FROM 'a b.csv'"]);
  const own = await draw({ spec: { mark: "bar" } }, { rows, count: 5_001 });
  expect(own.text).toContain("Only the first 5000 of 5001 rows were read. Sum the data up first.");
});

test("rows at one place are combined by the database, in the order of the file", async () => {
  const combined = {
    columns: [columns[0] as never, { name: "n", type: "HUGEINT" }],
    rows: [["2024-01-01", "5"]],
  } as Answer;
  const parted = { columns, rows: [["2024-01-01", "5", "A"]] } as Answer;
  const sql = async (item: Partial<Item>) => (await draw(item, "series" in item ? parted : combined)).asked[1];
  const source = `(SELECT *, row_number() OVER () AS "row of the file" FROM 'a b.csv')`;
  const rest = (places: string, order = "") =>
    `FROM ${source} GROUP BY ${places} ORDER BY ${order}min("row of the file") LIMIT 5001`;
  expect(await sql({ x: "day", y: ["n"], aggregate: "sum" })).toBe(`SELECT "day", sum("n") AS "n" ${rest('"day"')}`);
  expect(await sql({ x: "day", y: ["n"], aggregate: "mean" })).toBe(
    `SELECT "day", mean("n") AS "mean of n" ${rest('"day"')}`,
  );
  expect(await sql({ x: "day", y: ["n"], series: "shop", aggregate: "max" })).toBe(
    `SELECT "day", "shop", max("n") AS "max of n" ${rest('"day", "shop"')}`,
  );
  expect(await sql({ x: "day", aggregate: "count" })).toBe(`SELECT "day", count(*) AS "count" ${rest('"day"')}`);
});

test("of a spec of its own nothing is found, and of charts that show no course neither", async () => {
  const own = await draw({ spec: { mark: "bar" } });
  expect(own.text).toContain("Drawn by your own spec; no findings are computed for one.\nNote: Mind.");
  expect(own.text).toEndWith("No findings.");
  expect([own.chart?.spec, own.chart?.roles, own.chart?.insights]).toEqual([{ mark: "bar" }, undefined, []]);
  const box = await draw({ chart: "box", y: ["n"] });
  expect(box.text).toContain("No findings are computed for a box chart.");
  expect([box.chart?.roles, box.chart?.insights]).toEqual([undefined, []]);
  await expect(draw({ spec: { data: { url: "x" } } })).rejects.toMatchObject({ code: "forbidden" });
});

test("data are found beside the charts too, and a name given is the name", async () => {
  const source = async (item: Partial<Item>) => (await draw({ y: ["n"], ...item })).asked[0];
  expect(await source({ csvFilePath: "c.csv" })).toContain("'visualization/c.csv'");
  expect(await source({ csvFilePath: "a b.csv" })).toContain("'a b.csv'");
  await expect(draw({ csvFilePath: "none.csv" })).rejects.toMatchObject({ code: "not_found" });
  await expect(draw({ csvFilePath: "/c.csv" })).rejects.toBeInstanceOf(AppError);
  expect((await draw({ y: ["n"], name: "sums.png" })).base).toBe("visualization/sums");
});

test("what cannot be one chart is refused", async () => {
  await expect(draw({ y: ["n"] }, { rows: [], total: 0 })).rejects.toThrow("a b.csv has no rows.");
  const twice = [...days(3), ...days(1)];
  await expect(draw({ x: "day", y: ["n"], series: "day" }, { rows: twice })).rejects.toThrow(
    "Several rows share their",
  );
  const many: QueryResult["rows"] = Array.from({ length: 5_001 }, (_, at) => [`${at}`, "1"]);
  const combined = { columns: columns.slice(0, 2), rows: many };
  await expect(draw({ x: "day", y: ["n"], aggregate: "sum" }, combined)).rejects.toThrow("more than 5000 places");
});

test("findings are drawn into a copy of their chart, each once, and told", async () => {
  const insight = (text: string) => ({ type: "x", series: "s", at: [], figures: {}, strength: 1, text });
  const chart = {
    ...{ title: "T", language: "en", csvFilePath: "m.csv", spec: { mark: "bar" }, columns: [], rows: [], shown: [] },
    insights: ["one", "two", "three"].map(insight),
  };
  const kept = (of: object) => Bun.write(join(place.workspace.root, "visualization/m.json"), JSON.stringify(of));
  await kept(chart);
  using spy = spyOn(drawing, "drawChart").mockResolvedValue({ path: "the copy", warning: undefined, image: undefined });
  const context = contextForTest(place.workspace);
  const mark = (insights_id: number[]) => markedChart({ chartPath: "m.png", insights_id }, "png", context);
  expect((await mark([3, 1, 3])).text).toBe(
    "Chart with findings saved in: the copy (m.png is as it was)\n3. three\n1. one",
  );
  const [given, base, drawn, output] = spy.mock.calls[0] ?? [];
  expect([given === context, base, drawn?.shown, output]).toEqual([true, "visualization/m_new", [3, 1], "png"]);
  await expect(mark([1, 4])).rejects.toThrow("There is no finding 4: m.png has 3.");
  await kept({ ...chart, spec: { mark: { type: "image" } } });
  await expect(mark([1])).rejects.toMatchObject({ code: "forbidden" });
  expect(spy).toHaveBeenCalledTimes(1);
});
