import { expect, test } from "bun:test";
import { clusters, dbscan } from "./clusters.ts";
import { correlation } from "./correlation.ts";
import { findInPair } from "./find-in-pair.ts";
import { findInSeries, majority } from "./find-in-series.ts";
import type { Series } from "./finding.ts";
import { abnormal, flattened, isOutlier, localOutliers, statisticsAbnormal } from "./outliers.ts";
import { pageHinkley } from "./page-hinkley.ts";
import { trend } from "./trend.ts";
import { turningPoint } from "./turning-point.ts";
import { volatility } from "./volatility.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);
const series = (values: readonly number[], more: Partial<Series> = {}): Series => ({
  name: "S",
  labels: values.map((_, at) => `t${at}`),
  values,
  ordered: true,
  adds: true,
  ...more,
});

test("each test needs as many values as it says, and none fewer", () => {
  expect([trend(upTo(4)), trend(upTo(5))?.slope]).toEqual([undefined, 1]);
  const spiked = (count: number) => [...upTo(count - 1).map((at) => 10 + (at % 3)), 90];
  expect([abnormal(spiked(7)), abnormal(spiked(8))]).toEqual([[], [7]]);
  expect([statisticsAbnormal(spiked(7)), statisticsAbnormal(spiked(8))]).toEqual([[], [7]]);
  const swinging = (count: number) => upTo(count).map((at) => 10 + 10 * (at % 2));
  expect([volatility(swinging(7)), volatility(swinging(8))?.level]).toEqual([undefined, 15]);
  const line = (count: number) =>
    correlation(
      upTo(count),
      upTo(count).map((at) => 3 * at),
    ).linear;
  expect([line(7), line(8)]).toEqual([undefined, expect.closeTo(1, 9)]);
  const shifted = (before: number, after: number) =>
    pageHinkley([...upTo(before).map((at) => at % 2), ...upTo(after).map((at) => 50 + (at % 2))])?.at;
  expect([shifted(6, 6), shifted(8, 8), shifted(4, 20)]).toEqual([undefined, 8, undefined]);
});

test("the direction of a trend, its start and its order are told, ties reduce it, and a level one is none", () => {
  expect(trend([9, 8, 7, 6, 5, 4])).toMatchObject({ slope: -1, start: 9, tau: -1 });
  expect(trend([1, 2, 2, 3, 3, 4, 4, 5])?.tau).toBeLessThan(1);
  expect(trend([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])).toBeUndefined();
  const long = trend(upTo(1_000).map((at) => 5 + 2 * at));
  expect([long?.slope, long?.start]).toEqual([expect.closeTo(2, 9), expect.closeTo(5, 9)]);
});

test("few values have to be further off, and of equal ones only a single other is odd", () => {
  // Of nine values with a deviation of 1.4826, 7.1 are within what chance makes of so few, and 7.4
  // are not.
  const few = [8, 9, 9, 10, 10, 11, 11, 12];
  expect([abnormal([...few, 10 + 7.1]), abnormal([...few, 10 + 7.4])]).toEqual([[], [8]]);
  const equal = Array.from({ length: 9 }, () => 5);
  expect([abnormal([...equal, 6]), abnormal([...equal, 6, 7])]).toEqual([[9], []]);
});

test("suspects are outliers when a gap parts them from the rest, and never more than a tenth", () => {
  const rest = upTo(20).map((at) => 100 + (at % 5));
  expect(isOutlier([...rest, 200], [20])).toBeCloseTo(1 - 2 / 98, 5);
  expect(isOutlier([...rest, 105], [20])).toBe(0);
  expect(isOutlier([...rest, 200, 201, 202], [20, 21, 22])).toBe(0);
  expect(isOutlier(rest, [])).toBe(0);
});

test("values of different orders of magnitude are compared as logarithms, and ordered ones without their trend", () => {
  expect(flattened([1, 10, 100], false)).toEqual([0, Math.log(10), Math.log(100)]);
  expect(flattened([1, 10], false)).toEqual([1, 10]);
  expect(flattened([0, 10, 100], false)).toEqual([0, 10, 100]);
  expect(flattened([10, 12, 14, 16, 18], true)).toEqual([10, 10, 10, 10, 10]);
  expect(flattened([10, 12, 14, 16, 18], false)).toEqual([10, 12, 14, 16, 18]);
});

test("one value with no others near is found among many, and values at the ends are left to other tests", () => {
  const heap = (level: number) => upTo(8).map((at) => level + at / 10);
  expect(localOutliers([...heap(0), 5, ...heap(10)])).toEqual([8]);
  expect(localOutliers([...heap(0), ...heap(1), 50])).toEqual([]);
  expect(localOutliers([0, 0.1, 0.2, 5, 10, 10.1, 10.2])).toEqual([]);
});

test("a turn is told with its place and value, both ways, and one near an end is none", () => {
  const valley = [9, 8, 7, 6, 5, 6, 7, 8, 9];
  expect(turningPoint(valley)).toMatchObject({ at: 4, value: 5, gain: expect.closeTo(1, 9) });
  expect(turningPoint([1, 2, 3, 2, 1, 0, -1, -2])).toBeUndefined();
  expect(turningPoint([1, 2, 3, 4, 5, 6, 7, 8, 7])).toBeUndefined();
});

test("volatility is told of all-negative values too, and not where the steps keep their direction", () => {
  expect(volatility([-10, -20, -10, -20, -10, -20, -10, -20])).toMatchObject({
    level: -15,
    share: expect.closeTo(0.571, 3),
  });
  expect(volatility([100, 124, 100, 124, 100, 124, 100, 124])).toBeUndefined();
  expect(volatility(upTo(12).map((at) => 2 ** at))).toBeUndefined();
});

test("a majority is of a whole above nothing, and its share is told", () => {
  expect(majority([0, 0, 0])).toBeUndefined();
  expect(majority([1, 1, 7, 0])).toEqual({ at: 2, share: 7 / 9 });
  expect(majority([51, 49, 0])).toEqual({ at: 0, share: 0.51 });
});

test("groups have their centres in the data's own units, and what is in none is named", () => {
  const heap = (x: number, y: number) =>
    upTo(16).map((at) => [x + (at % 4) / 10, 100 * (y + Math.floor(at / 4) / 10)] as const);
  const points = [...heap(0, 0), ...heap(9, 9), [4.5, 450] as const];
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const found = clusters(xs, ys);
  expect(found?.centres).toEqual([
    [expect.closeTo(0.15, 5), expect.closeTo(15, 5)],
    [expect.closeTo(9.15, 5), expect.closeTo(915, 5)],
  ]);
  expect([found?.noise, (found?.silhouette ?? 0) > 0.9]).toEqual([[32], true]);
  const [cluster] = findInPair(series(xs, { ordered: false }), series(ys, { ordered: false, name: "T" })).filter(
    ({ type }) => type === "dbscan_clusters",
  );
  expect(cluster).toMatchObject({
    series: "S × T",
    at: ["t32"],
    figures: { clusters: 2, noise: 1, x1: expect.closeTo(0.15, 5), y2: expect.closeTo(915, 5) },
  });
  expect(findInPair(series(xs), series(ys)).map(({ type }) => type)).not.toContain("dbscan_clusters");
  expect(clusters(xs.slice(0, 11), ys.slice(0, 11))).toBeUndefined();
  expect(dbscan([[0], [0.4], [0.8], [1.2], [9]], 0.5, 3)).toEqual([0, 0, 0, 0, -1]);
});

test("a movement that is certain but slight is not reported, and one of a tenth of the level is", () => {
  const types = (slope: number) => findInSeries(series(upTo(11).map((at) => 100 + slope * at))).map(({ type }) => type);
  expect(types(0.9)).not.toContain("overall_trend");
  expect(types(1.1)).toContain("overall_trend");
  const levels = (after: number) =>
    findInSeries(
      series([...upTo(12).map((at) => 100 + (at % 2) / 10), ...upTo(12).map((at) => after + (at % 2) / 10)]),
    ).map(({ type }) => type);
  expect(levels(105)).not.toContain("page_hinkley");
  expect(levels(130)).toContain("page_hinkley");
  expect(levels(130)).not.toContain("overall_trend");
});

test("sums and majorities are told of what adds up, trends of what is in order", () => {
  const values = [10, 60, 30];
  const [base, most] = findInSeries(series(values, { ordered: false }));
  expect(base).toMatchObject({
    type: "statistics_base",
    at: ["t0", "t1"],
    figures: { sum: 100, mean: expect.closeTo(33.33, 1), median: 30, least: 10, greatest: 60 },
    strength: 0.1,
  });
  expect(most).toMatchObject({ type: "majority_value", at: ["t1"], figures: { share: 0.6 }, strength: 0.6 });
  expect(findInSeries(series(values, { ordered: false, adds: false }))[0]?.figures).not.toHaveProperty("sum");
  expect(findInSeries(series(values)).map(({ type }) => type)).toEqual(["statistics_base"]);
  expect(findInSeries(series(upTo(6), { ordered: false })).map(({ type }) => type)).toEqual(["statistics_base"]);
});

test("zeros are told where they are more than half of the values", () => {
  const zeros = (values: readonly number[]) => findInSeries(series(values))[0]?.figures.zeros;
  expect([zeros([0, 0, 0, 5]), zeros([0, 0, 4, 5]), zeros([3, 4, 5])]).toEqual([0.75, undefined, undefined]);
});

test("of two series along time the steps are compared too", () => {
  const up = upTo(12).map((at) => at + (at % 2));
  const [along] = findInPair(series(up), series(up.map((value) => 2 * value)));
  expect(along).toMatchObject({
    type: "pearson_correlation",
    figures: { coefficient: expect.closeTo(1, 9), steps: expect.closeTo(1, 9) },
    strength: expect.closeTo(1, 9),
  });
  const [apart] = findInPair(series(up, { ordered: false }), series(up.map((value) => -value)));
  expect(apart).toMatchObject({ figures: { coefficient: expect.closeTo(-1, 9) }, strength: expect.closeTo(1, 9) });
  expect(apart?.figures).not.toHaveProperty("steps");
});
