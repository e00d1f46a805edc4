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
