import { expect, test } from "bun:test";
import { gaussian, seeded } from "../../../testing/data/noise.ts";
import { chartInsights } from "./chart-insights.ts";
import type { Plot } from "./chart-roles.ts";

const months = Array.from(
  { length: 24 },
  (_, at) => `${2022 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`,
);

/** Monthly values of several products. */
function products(count: number, value: (product: number, at: number) => number): Plot {
  const names = Array.from({ length: count }, (_, product) => product);
  return {
    columns: [
      { name: "month", kind: "order" },
      { name: "product", kind: "name" },
      { name: "units", kind: "number" },
    ],
    rows: months.flatMap((month, at) => names.map((product) => [month, `P${product}`, value(product, at)])),
    roles: { along: 0, parts: 1, measures: [2] },
  };
}

test("the clearest three are reported, best first, with the number left out", () => {
  const { found, left } = chartInsights(products(8, (product, at) => at * (product + 1)));
  expect(found.map(({ type }) => type)).toEqual(Array.from({ length: 3 }, () => "overall_trend"));
  expect(left).toBe(5);
  const strengths = found.map(({ strength }) => strength);
  expect(strengths).toEqual(strengths.toSorted((one, other) => other - one));
});

/** A table along names or an order with these columns of numbers, by name. */
const wide = (kind: "name" | "order", columns: Readonly<Record<string, readonly number[]>>): Plot => {
  const names = Object.keys(columns);
  const [first = []] = Object.values(columns);
  return {
    columns: [{ name: "at", kind }, ...names.map((name) => ({ name, kind: "number" as const }))],
    rows: first.map((_, at) => [`t${at}`, ...names.map((name) => columns[name]?.[at] ?? null)]),
    roles: { along: 0, parts: undefined, measures: names.map((_, at) => at + 1) },
  };
};
const found = (plot: Plot) => chartInsights(plot).found.map(({ type, series }) => `${type} ${series}`);

test("the clearest comes first, facts come last, and what does not add up has no sum", () => {
  const rising = Array.from({ length: 12 }, (_, at) => 10 * at);
  expect(found(wide("order", { units: rising }))).toEqual(["overall_trend units", "statistics_base units"]);
  const [, base] = chartInsights(wide("order", { price: rising })).found;
  expect(base?.figures).not.toHaveProperty("sum");
  expect(chartInsights(products(8, (product, at) => at * (product + 1))).found[0]?.series).toMatch(/^units \(P\d\)$/);
});

test("two measures are compared with each other, but not where rows are parts of one", () => {
  const climb = Array.from({ length: 12 }, (_, at) => at);
  const plot = wide("name", { a: climb, b: climb.map((value) => 3 * value + (value % 2)) });
  expect(found(plot)).toContain("pearson_correlation a × b");
  const parted = { ...plot, rows: plot.rows.map((row) => [...row, "one"]), roles: { ...plot.roles, parts: 3 } };
  expect(found({ ...parted, columns: [...plot.columns, { name: "g", kind: "name" }] }).join()).not.toContain("×");
});

test("the more series there are, the clearer a finding has to be", () => {
  // Five values in order are so by chance in one of 36 series.
  const short = (count: number) =>
    found(
      wide("order", Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, [10, 20, 30, 40, 50]]))),
    );
  expect([short(1).join(), short(2).join()].map((text) => text.includes("overall_trend"))).toEqual([true, false]);
  // One value a little further off than three series let pass.
  const odd = [...Array.from({ length: 20 }, (_, at) => 100 + (at % 5)), 108.1];
  const far = (count: number) => {
    const groups = Array.from({ length: count }, (_, at) => `s${at}`);
    const rows = groups.flatMap((group) => odd.map((value, at) => [`t${at}`, value, group]));
    const columns = [...wide("name", { n: odd }).columns, { name: "g", kind: "name" as const }];
    const types = found({ columns, rows, roles: { along: 0, measures: [1], parts: 2 } });
    return types.filter((one) => one.startsWith("abnormal")).length;
  };
  expect([far(3) > 0, far(4)]).toEqual([true, 0]);
});

test("ten series of noise hardly ever have findings, in fifty tries", () => {
  const tries = Array.from({ length: 50 }, (_, seed) => {
    const random = seeded(seed);
    return chartInsights(products(10, () => 100 + 10 * gaussian(random))).found.length;
  });
  expect(tries.filter((count) => count > 0).length).toBeLessThan(5);
});

test("values at the same place have no order", () => {
  const { columns, rows } = products(2, (_, at) => at);
  const table = {
    columns: columns.filter(({ kind }) => kind !== "name"),
    rows: rows.map(([month = null, , n = null]) => [month, n]),
    roles: { along: 0, parts: undefined, measures: [1] },
  };
  expect(chartInsights(table).found.map(({ type }) => type)).toEqual(["statistics_base"]);
});

test("a movement by less than a tenth of the level is not reported, however certain it is", () => {
  const types = (step: number) => chartInsights(products(1, (_, at) => 1000 + step * at)).found.map(({ type }) => type);
  expect(types(1)).toEqual(["statistics_base"]);
  expect(types(10)).toContain("overall_trend");
});
