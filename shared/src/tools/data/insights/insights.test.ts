import { expect, test } from "bun:test";
import { abnormal } from "./abnormal.ts";
import { dbscan } from "./dbscan.ts";
import { findInPair, findInSeries } from "./find-insights.ts";
import { localOutliers } from "./local-outliers.ts";
import { majority } from "./majority.ts";
import { pageHinkley } from "./page-hinkley.ts";
import { pearson } from "./pearson.ts";
import { sayFinding } from "./say-finding.ts";
import { spearman } from "./spearman.ts";
import { quantile, ranks } from "./statistics.ts";
import { statisticsAbnormal } from "./statistics-abnormal.ts";
import { statisticsBase } from "./statistics-base.ts";
import { trend } from "./trend.ts";
import { turningPoint } from "./turning-point.ts";
import { volatility } from "./volatility.ts";

const anscombe = {
  x: [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5],
  y: [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
};
const flat = [10, 11, 10, 9, 10, 11, 9, 10, 11, 10];

test("quantiles are interpolated and equal values share their rank", () => {
  expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
  expect(ranks([3, 1, 3, 2])).toEqual([3.5, 1, 3.5, 2]);
});

test("Pearson of Anscombe's first set is 0.816, of a constant there is none", () => {
  expect(pearson(anscombe.x, anscombe.y)).toBeCloseTo(0.81642, 4);
  expect(pearson([1, 2, 3], [5, 5, 5])).toBeUndefined();
});

test("Spearman of Anscombe's first set is 0.818, of any monotonic relation 1", () => {
  expect(spearman(anscombe.x, anscombe.y)).toBeCloseTo(0.81818, 4);
  expect(spearman([1, 2, 3, 4], [1, 8, 27, 64])).toBeCloseTo(1, 10);
});

test("a line has its slope as trend, noise around a level none", () => {
  expect(trend([1, 3, 5, 7, 9, 11])).toMatchObject({ direction: "up", slope: 2 });
  expect(trend([9, 7, 5, 3, 1])).toMatchObject({ direction: "down", slope: -2 });
  // Mann-Kendall with S = 10, n = 5: z = 9 / sqrt(50 / 3) = 2.2045, p = 0.0275.
  expect(trend([1, 3, 5, 7, 9])?.p).toBeCloseTo(0.0275, 3);
  expect(trend(flat)).toBeUndefined();
});

test("one far value is abnormal by the median and by the quartiles, and stands alone by density", () => {
  const values = [...flat, 40];
  expect(abnormal(values)).toEqual([10]);
  expect(statisticsAbnormal(values)).toEqual([10]);
  expect(localOutliers(values.map((value, at) => [value + at / 100]))).toEqual([10]);
  expect(abnormal(flat)).toEqual([]);
  expect(statisticsAbnormal(flat)).toEqual([]);
});

test("the base statistics are the usual ones, with the places of the extremes", () => {
  expect(statisticsBase([4, 1, 7, 0])).toEqual({
    sum: 12,
    mean: 3,
    median: 2.5,
    least: { value: 0, at: 3 },
    greatest: { value: 7, at: 2 },
  });
  expect(statisticsBase([])).toBeUndefined();
});

test("DBSCAN finds two heaps and the point in neither", () => {
  const heap = (x: number) => [0, 1, 2, 3].map((step) => [x + step / 10, step / 10]);
  expect(dbscan([...heap(0), ...heap(5), [20, 20]], 0.5)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, -1]);
});

test("a majority is more than half of a whole", () => {
  expect(majority([10, 60, 30])).toEqual({ at: 1, share: 0.6 });
  expect(majority([50, 50])).toBeUndefined();
  expect(majority([-1, 60])).toBeUndefined();
});

test("Page-Hinkley finds the step in a level, in both directions, and none in noise", () => {
  const noise = (level: number) => flat.map((value) => level + value - 10);
  expect(pageHinkley([...noise(10), ...noise(20)])).toBe(10);
  expect(pageHinkley([...noise(20), ...noise(10)])).toBe(10);
  expect(pageHinkley(flat)).toBeUndefined();
});

test("a tent turns at its top, a line nowhere", () => {
  expect(turningPoint([1, 2, 3, 4, 5, 4, 3, 2, 1])).toBe(4);
  expect(turningPoint([1, 2, 3, 4, 5, 6, 7])).toBeUndefined();
});

test("volatility is the deviation of the steps over the mean level", () => {
  expect(volatility([10, 20, 10, 20, 10])).toBeCloseTo(10 / 14, 10);
  expect(volatility([5, 5, 5, 5])).toBe(0);
});

test("a series in time and one of names are asked different questions", () => {
  const labels = ["a", "b", "c", "d", "e", "f"];
  const values = [1, 2, 3, 4, 5, 60];
  const types = (ordered: boolean) => findInSeries({ name: "s", labels, values, ordered }).map(({ type }) => type);
  expect(types(true)).toContain("overall_trend");
  expect(types(true)).not.toContain("majority_value");
  expect(types(false)).toContain("majority_value");
  expect(types(false)).not.toContain("overall_trend");
});

test("every kind of finding has a sentence in both languages that names its series and no missing number", () => {
  const labels = Array.from({ length: 40 }, (_, at) => `t${at}`);
  const series = (name: string, values: readonly number[], ordered = true) => ({ name, labels, values, ordered });
  const tent = labels.map((_, at) => 20 - Math.abs(20 - at));
  const step = labels.map((_, at) => (at < 20 ? at % 3 : 50 + (at % 3)));
  const wild = labels.map((_, at) => (at % 2) * 100);
  const found = [
    ...[tent, step, wild, tent.map((value, at) => value + at)].flatMap((values) => findInSeries(series("S", values))),
    ...findInSeries(series("S", [...flat, 2000, ...flat], false)),
    ...findInPair(series("S", step), series("T", step)),
  ];
  const types = new Set(found.map(({ type }) => type));
  expect(types.size).toBe(12);
  for (const finding of found)
    for (const language of ["en", "zh"] as const) {
      const sentence = sayFinding(finding, language);
      expect(sentence).toContain(finding.series);
      expect(sentence).not.toMatch(/NaN|undefined/);
    }
});
