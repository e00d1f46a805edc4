import { expect, test } from "bun:test";
import { gaussian, seeded } from "../../../../testing/data/noise.ts";
import { chartInsights } from "../chart-insights.ts";
import { type ChartKind, type Plot, resolveRoles } from "../chart-roles.ts";
import { type ChartTable, records } from "../chart-table.ts";
import { chooseSpec } from "../choose-spec.ts";
import { finishedSpec } from "../finished-spec.ts";
import { inOrder } from "../plot-rows.ts";
import { renderChart } from "../render/render-chart.ts";
import { withMarks } from "./insight-marks.ts";
import { accent } from "./pair-marks.ts";

const random = seeded(11);
const months = Array.from(
  { length: 24 },
  (_, at) => `${2022 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`,
);
const along = (value: (at: number) => number): ChartTable => ({
  columns: [
    { name: "month", kind: "order" },
    { name: "n [a.b]", kind: "number" },
  ],
  rows: months.map((month, at) => [month, value(at)]),
});
const named = (rows: readonly (readonly [string, number])[]): ChartTable => ({
  columns: [
    { name: "name", kind: "name" },
    { name: "n", kind: "number" },
  ],
  rows,
});
const points = (value: (at: number) => readonly [number, number]): ChartTable => ({
  columns: [
    { name: "x", kind: "number" },
    { name: "y", kind: "number" },
  ],
  rows: months.map((_, at) => value(at)),
});

const plotOf = (table: ChartTable): Plot => inOrder({ ...table, roles: resolveRoles(table, {}).roles });

const planted: readonly (readonly [type: string, kind: ChartKind, table: ChartTable, shows: RegExp])[] = [
  ["abnormal_value", "line", along((at) => (at === 7 ? 900 : 100 + (at % 3))), />900</],
  ["overall_trend", "line", along((at) => 10 * at), /stroke-dasharray="6,4"/],
  ["turning_point", "line", along((at) => 50 - Math.abs(12 - at)), />2023-01<[\s\S]*>2023-01</],
  ["page_hinkley", "line", along((at) => (at < 12 ? 100 : 200) + (at % 3)), />101<[\s\S]*>201</],
  ["volatility", "line", along((at) => 100 + 60 * (at % 2)), />typical step [\d.]+</],
  ["statistics_base", "line", along((at) => 100 + (at % 5)), />mean 10[\d.]+</],
  [
    "majority_value",
    "bar",
    named([
      ["a", 10],
      ["b", 70],
      ["c", 20],
    ]),
    />70 %</,
  ],
  [
    "majority_value",
    "pie",
    named([
      ["a", 10],
      ["b", 70],
      ["c", 20],
    ]),
    />70 %</,
  ],
  ["pearson_correlation", "scatter", points((at) => [at, 2 * at + gaussian(random)]), /stroke-dasharray="6,4"/],
  [
    "dbscan_clusters",
    "scatter",
    points((at) => [(at % 2) * 30 + gaussian(random), (at % 2) * 9 + gaussian(random)]),
    />2</,
  ],
];

test.each(planted)("%s is drawn into the picture (%s)", async (type, kind, raw, shows) => {
  const table = plotOf(raw);
  const finding = chartInsights(table).found.find((each) => each.type === type);
  const spec = chooseSpec(table, kind, "en");
  const options = { title: "T", subtitle: [], language: "en" } as const;
  const draw = async (changed: typeof spec) =>
    (
      await renderChart(finishedSpec(changed, records(table), options), {
        png: false,
        signal: AbortSignal.timeout(60_000),
      })
    ).svg;
  const [plain, marked] = await Promise.all([
    draw(spec),
    draw(withMarks({ ...table, spec, language: "en" }, finding ? [finding] : [])),
  ]);
  expect(plain).not.toContain(accent);
  expect(marked).toContain(accent);
  expect(marked).toMatch(shows);
});

test("a spec with another structure stays unchanged", () => {
  const table = plotOf(along((at) => 10 * at));
  const { found } = chartInsights(table);
  const plain = chooseSpec(table, "line", "en");
  const faceted = { ...plain, encoding: { ...Object(plain.encoding), row: { field: "month" } } };
  expect(withMarks({ ...table, spec: plain, language: "en" }, found)).not.toEqual(plain);
  for (const spec of [
    { hconcat: [] },
    { mark: "bar", encoding: { x: { field: "other" } } },
    { mark: "geoshape" },
    faceted,
  ])
    expect(withMarks({ ...table, spec, language: "en" }, found)).toEqual(spec);
});
