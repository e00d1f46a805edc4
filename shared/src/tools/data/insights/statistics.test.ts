import { expect, test } from "bun:test";
import {
  chanceOfCorrelation,
  deviation,
  distance,
  mean,
  median,
  pearson,
  quantile,
  ranks,
  robustDeviation,
  thinned,
  twoSided,
} from "./statistics.ts";

test("the middle and the spread of values are the usual ones", () => {
  const values = [9, 2, 4, 4, 5, 5, 7, 4];
  expect([mean(values), deviation(values), median(values)]).toEqual([5, 2, 4.5]);
  expect([median([3, 1, 2]), median([7]), quantile([7], 0.9)]).toEqual([2, 7, 7]);
  expect([0, 0.25, 0.5, 0.9, 1].map((part) => quantile([10, 20, 30, 40, 50], part))).toEqual([10, 20, 30, 46, 50]);
  expect([mean([]), median([])]).toEqual([Number.NaN, Number.NaN]);
  // One extreme value hardly counts.
  expect(robustDeviation([1, 2, 3, 4, 1000])).toBeCloseTo(1.4826, 10);
  expect(distance([1, 2, 3], [4, 6, 3])).toBe(5);
});

test("equal values share the mean of their ranks, wherever they are", () => {
  expect(ranks([10, 20, 20, 20, 5])).toEqual([2, 4, 4, 4, 1]);
  expect(ranks([1, 1])).toEqual([1.5, 1.5]);
  expect(ranks([])).toEqual([]);
});

test("thinning spreads evenly, and keeps all of a short series", () => {
  expect(thinned([5, 6, 7], 9)).toEqual([
    { at: 0, value: 5 },
    { at: 1, value: 6 },
    { at: 2, value: 7 },
  ]);
  expect(thinned([5, 6, 7], 1)).toEqual([{ at: 0, value: 5 }]);
  expect(thinned([], 3)).toEqual([]);
  expect(
    thinned(
      Array.from({ length: 101 }, (_, at) => at),
      5,
    ).map(({ value }) => value),
  ).toEqual([0, 25, 50, 75, 100]);
});

test("a correlation is between -1 and 1, and none when one side does not vary", () => {
  expect(pearson([1, 2, 3], [6, 4, 2])).toBe(-1);
  expect(pearson([1, 2, 3], [1, 2, 3])).toBeLessThanOrEqual(1);
  expect(pearson([1, 2, 3, 4], [1, -1, -1, 1])).toBeCloseTo(0, 10);
  expect(pearson([5, 5], [1, 2])).toBeUndefined();
});

test("probabilities of chance are those of the tables", () => {
  for (const [z, p] of [
    [0, 1],
    [1, 0.3173],
    [-1.96, 0.05],
    [2.5758, 0.01],
    [3.2905, 0.001],
  ] as const)
    expect(twoSided(z)).toBeCloseTo(p, 4);
  expect(chanceOfCorrelation(0.99, 3)).toBe(1);
  // Fisher: atanh(0.8) = 1.0986, times sqrt(7 / 1.06), is 2.8232.
  expect(chanceOfCorrelation(0.8, 10)).toBeCloseTo(0.00475, 4);
  expect(chanceOfCorrelation(-0.8, 10)).toBe(chanceOfCorrelation(0.8, 10));
  expect(chanceOfCorrelation(1, 10)).toBeLessThan(1e-9);
});
