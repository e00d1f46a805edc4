import { expect, test } from "bun:test";
import { escapeHtml } from "../../page/html-page.ts";
import type { ChartKind, ChartRoles } from "./chart-roles.ts";
import { fieldOf } from "./chart-spec.ts";
import type { ChartTable, ColumnKind } from "./chart-table.ts";
import { chooseSpec } from "./choose-spec.ts";
import { finishedSpec } from "./finished-spec.ts";
import { chartPage } from "./interactive/chart-page.ts";
import { refuseLoading } from "./render/refuse-loading.ts";
import { textWidth, wrapText } from "./text-width.ts";

const columns = (...named: readonly (readonly [string, ColumnKind])[]) => named.map(([name, kind]) => ({ name, kind }));
const roles = (along: number | undefined, measures: readonly number[], parts?: number): ChartRoles => ({
  along,
  measures,
  parts,
});
const table = (rows: ChartTable["rows"], ...named: readonly (readonly [string, ColumnKind])[]): ChartTable => ({
  columns: columns(...named),
  rows,
});
type Spec = {
  readonly mark: unknown;
  readonly transform?: unknown;
  readonly height?: unknown;
  readonly encoding: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
const spec = (from: ChartTable, by: ChartRoles, kind: ChartKind, language: "en" | "zh" = "en") =>
  chooseSpec({ ...from, roles: by }, kind, language) as Spec;

const monthly = table(
  [
    ["2024-01-01", "A", 1],
    ["2024-02-01", "B", 2],
  ],
  ["month", "time"],
  ["shop", "name"],
  ["sales", "number"],
);

test("a line runs along its places from its own lowest value, an area from zero, each part in a colour", () => {
  const line = spec(monthly, roles(0, [2], 1), "line");
  expect(line.mark).toEqual({ type: "line", point: true });
  expect(line.encoding.x).toEqual({ field: "month", title: "month", type: "temporal", axis: { labelAngle: 0 } });
  expect(line.encoding.y).toEqual({ field: "sales", title: "sales", type: "quantitative", scale: { zero: false } });
  expect(line.encoding.color).toEqual({ field: "shop", title: "shop", type: "nominal", sort: null });
  expect(spec(monthly, roles(0, [2]), "area")).toMatchObject({
    mark: { type: "area" },
    encoding: { y: { scale: { zero: true } } },
  });
  const level = table(
    [
      ["a", 5],
      ["b", 5],
    ],
    ["q", "order"],
    ["n", "number"],
  );
  expect(spec(level, roles(0, [1]), "line").encoding).toMatchObject({
    x: { type: "ordinal" },
    y: { scale: { zero: true } },
  });
  const many = table(
    Array.from({ length: 61 }, (_, at) => [at, at]),
    ["x", "number"],
    ["n", "number"],
  );
  expect(spec(many, roles(0, [1]), "line")).toMatchObject({
    mark: { point: false },
    encoding: { x: { type: "quantitative" } },
  });
  const named = table(
    [
      ["Jan", 1],
      ["Feb", 2],
    ],
    ["m", "name"],
    ["n", "number"],
  );
  expect(spec(named, roles(0, [1]), "line").encoding.x).toMatchObject({ type: "ordinal", sort: null });
});

test("several measures are one series each", () => {
  const wide = table([["2024", 1, 2]], ["y", "order"], ["a.b", "number"], ["c", "number"]);
  const line = spec(wide, roles(0, [1, 2]), "line", "zh");
  expect(line.transform).toEqual([{ fold: ["a\\.b", "c"], as: ["series", "value"] }]);
  expect(line.encoding).toMatchObject({
    y: { field: "value", title: "数值" },
    color: { field: "series", title: null },
  });
});

test("bars stand side by side while their names have room, else they lie, one below the other", () => {
  const names = (count: number, length: number) =>
    table(
      Array.from({ length: count }, (_, at) => [`${at}`.padStart(length, "n"), at]),
      ["s", "name"],
      ["n", "number"],
    );
  const standing = (count: number, length: number) =>
    "height" in spec(names(count, length), roles(0, [1]), "bar") === false;
  expect([standing(15, 6), standing(15, 7), standing(16, 2), standing(1, 90), standing(1, 91)]).toEqual([
    true,
    false,
    false,
    true,
    false,
  ]);
  const upright = spec(names(3, 2), roles(0, [1]), "bar");
  expect(upright.encoding).toMatchObject({
    x: { field: "s", type: "nominal", sort: null },
    y: { field: "n", type: "quantitative" },
  });
  const lying = spec(names(20, 9), roles(0, [1]), "bar");
  expect(lying).toMatchObject({ height: { step: 24 }, encoding: { y: { field: "s", sort: null }, x: { field: "n" } } });
  expect(spec(monthly, roles(0, [2], 1), "bar").encoding.xOffset).toEqual({ field: "shop", sort: null });
});

test("bars of times stand from left to right, with tilted labels where flat ones have no room, up to a month of days", () => {
  const days = (count: number, kind: ColumnKind = "time") =>
    table(
      Array.from({ length: count }, (_, at) => [`2026-03-${`${at + 1}`.padStart(2, "0")}`, at]),
      ["day", kind],
      ["n", "number"],
    );
  const drawn = (from: ChartTable) => spec(from, roles(0, [1]), "bar");
  expect(drawn(days(9)).encoding.x).toMatchObject({ field: "day", axis: { labelAngle: 0 } });
  for (const count of [10, 31]) {
    expect(drawn(days(count)).encoding.x).toMatchObject({ field: "day", sort: null, axis: { labelAngle: -45 } });
    expect(drawn(days(count))).not.toHaveProperty("height");
  }
  expect(drawn(days(32)).encoding.y).toMatchObject({ field: "day" });
  expect(drawn(days(10, "name")).encoding.y).toMatchObject({ field: "day" });
});

test("slices, points and frequencies are drawn of their own columns", () => {
  const pie = spec(table([["a", 1]], ["s", "name"], ["n", "number"]), roles(0, [1]), "pie");
  expect(pie.encoding).toMatchObject({ theta: { field: "n", stack: true }, color: { field: "s", sort: null } });
  const two = table([["g", 1, 2]], ["g", "name"], ["a", "number"], ["b", "number"]);
  expect(spec(two, roles(undefined, [1, 2], 0), "scatter").encoding).toMatchObject({
    x: { field: "a", scale: { zero: false } },
    y: { field: "b" },
    color: { field: "g" },
  });
  expect(spec(two, roles(undefined, [2]), "histogram", "zh").encoding).toMatchObject({
    x: { field: "b", bin: true },
    y: { aggregate: "count", title: "数量" },
  });
  expect(fieldOf("a.b[0]\\c")).toBe("a\\.b\\[0\\]\\\\c");
});

test("boxes, cells and piles are drawn of their own columns", () => {
  const two = (low: number) =>
    table(
      [
        ["g", "s", low],
        ["h", "t", 2],
      ],
      ["g", "name"],
      ["s", "name"],
      ["n", "number"],
    );
  expect(spec(two(1), roles(0, [2]), "box")).toMatchObject({
    mark: { type: "boxplot", extent: 1.5 },
    encoding: { x: { field: "g" }, y: { field: "n", scale: { zero: false } } },
  });
  expect(spec(two(1), roles(undefined, [2]), "box").encoding).not.toHaveProperty("x");
  const cells = (low: number) => spec(two(low), roles(0, [2], 1), "heatmap").encoding;
  expect(cells(1)).toMatchObject({ x: { field: "g" }, y: { field: "s" }, color: { field: "n" } });
  expect([cells(1).color?.scale, cells(-1).color?.scale]).toEqual([
    { scheme: "blues" },
    { scheme: "blueorange", domainMid: 0 },
  ]);
  const pile = spec(two(1), roles(0, [2], 1), "stacked").encoding;
  expect([pile.color?.field, "xOffset" in pile]).toEqual(["s", false] as never);
});

test("a specification is finished with data, title and findings, and keeps its own settings but not its own data", () => {
  const own = { width: 99, mark: "bar", config: { font: "Mine" }, data: { url: "x" }, title: "no" };
  const about = { title: "T", subtitle: ["one finding"], language: "en" } as const;
  const done = finishedSpec(own, [{ a: 1 }], about) as Record<string, Record<string, unknown>>;
  expect(done).toMatchObject({
    width: 99,
    height: 380,
    mark: "bar",
    data: { values: [{ a: 1 }] },
    title: { text: ["T"], subtitle: ["one finding"] },
  });
  expect([done.config?.font, "locale" in (done.config ?? {})]).toEqual(["Mine", false]);
  expect((finishedSpec({}, [], { ...about, language: "zh" }) as typeof done).config).toHaveProperty("locale");
});

test("a text is broken at spaces, within Chinese anywhere but before a closing mark", () => {
  expect(wrapText("one two three", 5)).toEqual(["one two", "three"]);
  expect(wrapText("unbreakable", 2)).toEqual(["unbreakable"]);
  expect(wrapText("", 5)).toEqual([]);
  expect(wrapText("一二三四，五", 4)).toEqual(["一二三", "四，五"]);
  expect([textWidth("一"), textWidth("W"), textWidth("i"), textWidth("n")]).toEqual([1, 0.76, 0.34, 0.57]);
});

test.each<[unknown, string]>([
  [{ data: { url: "x" } }, "spec.data.url"],
  [{ layer: [{}, { mark: { href: "x" } }] }, "spec.layer.1.mark.href"],
  [{ mark: { type: "image" } }, "spec.mark.type"],
])("a specification that would load or link something is refused, with the place", (own, place) => {
  expect(() => refuseLoading(own)).toThrow(
    expect.objectContaining({
      code: "forbidden",
      message: `A chart loads nothing: take out ${place}. Its data comes from csvFilePath.`,
    }),
  );
});

test("a page shows a thousand rows, says how many more there are, and takes nothing for markup", async () => {
  const page = (count: number, language: "en" | "zh" = "en", insights: readonly string[] = []) =>
    chartPage(
      {
        ...{
          title: '<T> & "q"',
          language,
          csvFilePath: "x.csv",
          spec: { mark: "bar", encoding: {} },
          shown: [],
          roles: undefined,
        },
        insights: insights.map((text) => ({ type: "x", series: "v", at: [], figures: {}, strength: 1, text })),
        columns: columns(["<n>", "name"], ["v", "number"]),
        rows: Array.from({ length: count }, () => ["<b>", 1]),
      },
      "<svg/>",
    );
  const html = await page(1_002, "en", ["a < b"]);
  expect(/<details>[\s\S]*?<\/details>/.exec(html)?.[0].match(/<tr>/g)).toHaveLength(1_001);
  expect(html).toContain("<p>… and 2 more rows</p>");
  expect(html).toContain('<tr><td>&lt;b&gt;</td><td class="number">1</td></tr>');
  for (const part of [
    "<title>&lt;T&gt; &amp; &quot;q&quot;</title>",
    "<th>&lt;n&gt;</th>",
    "<li>a &lt; b</li>",
    "<h2>Findings</h2>",
  ])
    expect(html).toContain(part);
  expect(await page(1_000)).not.toContain("more rows");
  expect(await page(1)).not.toContain("Findings");
  expect(await page(1_001, "zh", ["x"])).toMatch(/<html lang="zh">[\s\S]*<h2>发现<\/h2>[\s\S]*另有 1 行/);
  expect(escapeHtml(`<a href="x">&</a>`)).toBe("&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
});
