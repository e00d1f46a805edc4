import { expect, test } from "bun:test";
import { gaussian, seeded } from "../../../testing/data/noise.ts";
import { clusters, dbscan } from "./clusters.ts";
import { correlation } from "./correlation.ts";
import { findInPair } from "./find-in-pair.ts";
import { findInSeries, majority, statisticsBase } from "./find-in-series.ts";
import type { Finding, Series } from "./finding.ts";
import { addsUp } from "./finding.ts";
import { abnormal, localOutliers, statisticsAbnormal } from "./outliers.ts";
import { pageHinkley } from "./page-hinkley.ts";
import { sayFinding } from "./say-finding.ts";
import { pearson, quantile, ranks, spearman, thinned } from "./statistics.ts";
import { trend } from "./trend.ts";
import { turningPoint } from "./turning-point.ts";
import { volatility } from "./volatility.ts";

const anscombe = {
  x: [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5],
  y: [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
};
const flat = [10, 11, 10, 9, 10, 11, 9, 10, 11, 10];
const series = (values: readonly number[], more: Partial<Series> = {}): Series => ({
  name: "S",
  labels: values.map((_, at) => `t${at}`),
  values,
  ordered: true,
  adds: true,
  ...more,
});
const typesIn = (values: readonly number[], more: Partial<Series> = {}) =>
  findInSeries(series(values, more)).map(({ type }) => type);

test("quantiles are interpolated, equal values share their rank, thinning keeps both ends", () => {
  expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
  expect(ranks([3, 1, 3, 2])).toEqual([3.5, 1, 3.5, 2]);
  expect(thinned([0, 1, 2, 3, 4], 3).map(({ at }) => at)).toEqual([0, 2, 4]);
});

test("Pearson of Anscombe's first set is 0.816; a constant has none", () => {
  expect(pearson(anscombe.x, anscombe.y)).toBeCloseTo(0.81642, 4);
  expect(pearson([1, 2, 3], [5, 5, 5])).toBeUndefined();
});

test("Spearman of Anscombe's first set is 0.818, of any monotonic relation 1", () => {
  expect(spearman(anscombe.x, anscombe.y)).toBeCloseTo(0.81818, 4);
  expect(spearman([1, 2, 3, 4], [1, 8, 27, 64])).toBeCloseTo(1, 10);
});

test("a correlation caused by one pair does not count, a curved one counts in ranks", () => {
  expect(correlation(anscombe.x, anscombe.y)).toEqual({ linear: expect.closeTo(0.816, 2), ranked: undefined });
  const anscombeFourth = {
    x: [8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8],
    y: [6.6, 5.8, 7.7, 8.8, 8.5, 7, 5.3, 12.5, 5.6, 7.9, 6.9],
  };
  expect(correlation(anscombeFourth.x, anscombeFourth.y)).toEqual({ linear: undefined, ranked: undefined });
  const steps = Array.from({ length: 20 }, (_, at) => at);
  expect(
    correlation(
      steps,
      steps.map((at) => Math.exp(at)),
    ).ranked,
  ).toBeCloseTo(1, 5);
});

test("a line's trend is its slope; noise and a slight rise within noise have no trend", () => {
  expect(trend([1, 3, 5, 7, 9, 11])).toMatchObject({ slope: 2, start: 1 });
  expect(trend([9, 7, 5, 3, 1])?.slope).toBe(-2);
  // Mann-Kendall with S = 10, n = 5: z = 9 / sqrt(50 / 3) = 2.2045, p = 0.0275.
  expect(trend([1, 3, 5, 7, 9])?.p).toBeCloseTo(0.0275, 3);
  expect(trend(flat)).toBeUndefined();
  expect(trend([5, 5, 5, 5, 5, 5, 5])).toBeUndefined();
  expect(trend([...flat, 60, ...flat])).toBeUndefined();
});

test("one far value is abnormal by the median and by the quartiles, however the others are spread", () => {
  const values = [...flat, 40];
  expect(abnormal(values)).toEqual([10]);
  expect(statisticsAbnormal(values)).toEqual([10]);
  expect(abnormal(flat)).toEqual([]);
  expect(statisticsAbnormal(flat)).toEqual([]);
});

test("among equal values, or values on one line, the different one is abnormal; rounding errors are not", () => {
  const abnormalAt = (values: readonly number[]) =>
    findInSeries(series(values)).flatMap(({ type, at }) => (type === "abnormal_value" ? at : []));
  const line = Array.from({ length: 12 }, (_, at) => 100 + 13 * at);
  const at6 = (values: readonly number[]) => values.map((value, at) => (at === 6 ? value + 200 : value));
  expect(abnormalAt(at6(line))).toEqual(["t6"]);
  expect(abnormalAt(at6(line.map(() => 100)))).toEqual(["t6"]);
  expect(abnormalAt(line)).toEqual([]);
  expect(abnormalAt(line.map((value) => value / 130 + 0.1))).toEqual([]);
  expect(abnormalAt([0, 0, 0, 5, 0, 7, 0, 0, 0, 0, 0, 0])).toEqual([]);
});

test("a value between two clusters is an outlier by density, not by distance from the centre", () => {
  const heap = (level: number) => Array.from({ length: 12 }, (_, at) => level + at / 10);
  const values = [...heap(0), 5, ...heap(10)];
  expect(localOutliers(values)).toEqual([12]);
  expect(abnormal(values)).toEqual([]);
  expect(localOutliers([...heap(0), ...heap(10)])).toEqual([]);
});

test("an outlier is reported once, even if a trend hides it; a long tail, growth and a trend have none", () => {
  const outliers = (found: readonly Finding[]) => found.filter(({ type }) => /abnormal|outlier/.test(type));
  expect(outliers(findInSeries(series([...flat, 40])))).toMatchObject([{ type: "abnormal_value", at: ["t10"] }]);
  const line = Array.from({ length: 30 }, (_, at) => 10 * at + (at % 3));
  expect(outliers(findInSeries(series(line.map((value, at) => (at === 8 ? value + 90 : value)))))).toMatchObject([
    { at: ["t8"] },
  ]);
  expect(outliers(findInSeries(series(line)))).toEqual([]);
  expect(outliers(findInSeries(series(line.map((value) => 2 ** (value / 20)))))).toEqual([]);
  const pareto = Array.from({ length: 60 }, (_, at) => 100 / (1 - at / 61));
  expect(outliers(findInSeries(series(pareto, { ordered: false })))).toEqual([]);
});

test("the base statistics are the usual ones, with the places of the extremes; a constant has none", () => {
  expect(statisticsBase([4, 1, 7, 0])).toEqual({
    sum: 12,
    mean: 3,
    median: 2.5,
    least: { value: 0, at: 3 },
    greatest: { value: 7, at: 2 },
  });
  expect(statisticsBase([])).toBeUndefined();
  expect(statisticsBase([5, 5, 5])).toBeUndefined();
});

test("DBSCAN finds two clusters and the point in neither", () => {
  const heap = (x: number) => [0, 1, 2, 3].map((step) => [x + step / 10, step / 10]);
  expect(dbscan([...heap(0), ...heap(5), [20, 20]], 0.5)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, -1]);
});

test("groups are reported if they are well separated, with their centres", () => {
  const random = seeded(1);
  const [xs, ys] = [0, 1].map(() => Array.from({ length: 60 }, (_, at) => (at % 2) * 20 + gaussian(random)));
  const found = clusters(xs ?? [], ys ?? []);
  expect(found?.centres).toHaveLength(2);
  expect(found?.centres[1]?.[0]).toBeCloseTo(20, -0.5);
});

test("a majority is more than half of a total with several parts", () => {
  expect(majority([10, 60, 30])).toEqual({ at: 1, share: 0.6 });
  expect(majority([50, 30, 20])).toBeUndefined();
  expect(majority([60, 40])).toBeUndefined();
  expect(majority([-1, 60, 3])).toBeUndefined();
});

test("averages, rates and prices are neither summed nor treated as parts of a total", () => {
  expect(["Revenue (EUR)", "orders", "销售额"].map(addsUp)).toEqual([true, true, true]);
  expect(["avg_price", "Share (%)", "Temperature", "增长率"].map(addsUp)).toEqual([false, false, false, false]);
  expect(typesIn([10, 60, 30], { ordered: false, adds: false })).toEqual(["statistics_base"]);
});

test("Page-Hinkley finds a level shift in both directions, and none in noise, after one extreme value or during a climb", () => {
  const noise = (level: number) => flat.map((value) => level + value - 10);
  expect(pageHinkley([...noise(10), ...noise(20)])).toMatchObject({ at: 10, before: 10.1, after: 20.1 });
  expect(pageHinkley([...noise(20), ...noise(10)])?.at).toBe(10);
  expect(pageHinkley(flat)).toBeUndefined();
  expect(pageHinkley([...noise(10), 90, ...noise(10)])).toBeUndefined();
  expect(pageHinkley(Array.from({ length: 40 }, (_, at) => at))).toBeUndefined();
});

test("a tent turns at its top, a line nowhere, a single peak is no turn", () => {
  expect(turningPoint([1, 2, 3, 4, 5, 4, 3, 2, 1])).toMatchObject({ at: 4, value: 5 });
  expect(turningPoint([1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeUndefined();
  expect(turningPoint([...flat, 40, ...flat])).toBeUndefined();
});

test("a series is volatile if its typical step is a quarter of its level, up and down, not if it grows or jumps once", () => {
  expect(volatility([10, 20, 10, 20, 10, 20, 10, 20])).toMatchObject({ level: 15, step: expect.closeTo(8.57, 2) });
  expect(volatility(flat)).toBeUndefined();
  expect(volatility([...flat, 100, ...flat])).toBeUndefined();
  expect(volatility([1, 2, 4, 8, 16, 32, 64, 128, 256])).toBeUndefined();
  expect(volatility([-10, 20, -10, 20, -10, 20, -10, 20])).toBeUndefined();
});

test("a time series and a categorical series get different findings", () => {
  const values = [1, 2, 3, 4, 5, 60];
  expect(typesIn(values)).toEqual(["statistics_base", "overall_trend"]);
  expect(typesIn(values, { ordered: false })).toEqual(["statistics_base", "majority_value"]);
});

test("noise hardly ever gives a finding besides its base statistics, in a hundred tries of several lengths", () => {
  const count = new Map<string, number>();
  const lengths = [6, 8, 12, 24, 60, 120];
  const tries = 100;
  for (const length of lengths)
    for (let seed = 0; seed < tries; seed++) {
      const random = seeded(seed * 1000 + length);
      const noise = (kind: (at: number) => number) => Array.from({ length }, (_, at) => kind(at));
      const one = series(noise(() => 100 + 10 * gaussian(random)));
      const other = series(noise(() => 80 + 40 * random()));
      const found = [one, other].flatMap((each) => [
        ...findInSeries(each),
        ...findInSeries({ ...each, ordered: false }),
      ]);
      const pairs = [...findInPair(one, other), ...findInPair({ ...one, ordered: false }, other)];
      for (const { type } of [...found, ...pairs]) count.set(type, (count.get(type) ?? 0) + 1);
    }
  expect(count.get("statistics_base")).toBe(4 * tries * lengths.length);
  count.delete("statistics_base");
  // In 2,400 checks each: every kind stays within its limit of one in a hundred, and all together
  // within one in fifty.
  for (const [type, times] of count) expect({ type, few: times <= 24 }).toEqual({ type, few: true });
  expect([...count.values()].reduce((sum, times) => sum + times, 0)).toBeLessThan(48);
});

test("for two random walks whose steps do not agree, the finding says that they share no more than a direction", () => {
  const random = seeded(5);
  const climb = () => Array.from({ length: 40 }, (_, at) => at * 10 + 8 * gaussian(random));
  const [found] = findInPair(series(climb()), series(climb(), { name: "T" }));
  expect(found?.type).toBe("pearson_correlation");
  expect(sayFinding(found as Finding, "en")).toContain("no more than a direction");
  expect(sayFinding(found as Finding, "zh")).toContain("可能只是走向相同");
});

test("every kind of finding has a sentence in both languages that names its series and no missing number", () => {
  const labels = Array.from({ length: 40 }, (_, at) => at);
  const random = seeded(3);
  const heaps = series(
    labels.map((at) => (at % 2) * 50 + gaussian(random)),
    { ordered: false },
  );
  const between = [...labels.map((at) => (at % 2) * 50 + at / 10), 25];
  const found = [
    ...[
      labels.map((at) => 20 - Math.abs(20 - at)),
      labels.map((at) => (at < 20 ? at % 3 : 50 + (at % 3))),
      labels.map((at) => 10 + (at % 2) * 100),
      labels,
      between,
    ].flatMap((values) => findInSeries(series(values))),
    ...findInSeries(series([...flat, 2000, ...flat], { ordered: false })),
    ...findInSeries(series([10, 10, 10, 10, 10, 10, 10, 11, 11, 9, 11, 40])),
    ...findInPair(heaps, { ...heaps, name: "T" }),
    ...findInPair(series(labels), series(labels.map((at) => Math.exp(at)))),
  ];
  expect(new Set(found.map(({ type }) => type)).size).toBe(12);
  for (const finding of found)
    for (const language of ["en", "zh"] as const) {
      const sentence = sayFinding(finding, language);
      expect(sentence).toContain(finding.series);
      expect(sentence).not.toMatch(/NaN|undefined/);
    }
});
