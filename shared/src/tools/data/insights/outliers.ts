import { mean, median, quantile, robustDeviation } from "./statistics.ts";
import { trend } from "./trend.ts";

const fewestForMedian = 8;
const farOff = 3.5;
/** The middle of few values is less certain. */
const moreOfFew = 12;

/** The difference that rounding leaves between equal values. */
const roundingError = 1e-9;

/**
 * The indexes of values far from the median, measured by the median absolute deviation (at least
 * 3.5 of them, more when there are few values). When most values are the same, only a single
 * differing value is far from them.
 */
export function abnormal(values: readonly number[]): number[] {
  if (values.length < fewestForMedian) return [];
  const [middle, spread] = [median(values), robustDeviation(values)];
  const rounding = roundingError * values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bound = (farOff + moreOfFew / values.length) * spread;
  const beyond = (far: number) => [...values.keys()].filter((at) => Math.abs((values[at] ?? middle) - middle) > far);
  if (spread > rounding) return beyond(bound);
  const others = beyond(rounding);
  return others.length === 1 ? others : [];
}

const fewestForFences = 8;
const fenceReach = 3;

/**
 * The indexes of values beyond Tukey's outer fences, three times the interquartile range outside
 * the quartiles.
 */
export function statisticsAbnormal(values: readonly number[]): number[] {
  if (values.length < fewestForFences) return [];
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  const range = fenceReach * (high - low);
  if (range === 0) return [];
  return [...values.keys()].filter((at) => {
    const value = values[at] ?? low;
    return value < low - range || value > high + range;
  });
}

const neighbours = 5;
const fewestForNeighbours = 12;
const outlying = 5;
const maxLocalShare = 0.1;
/**
 * Distances of fewer than this many usual gaps between different values count as equal, so that
 * repeated values do not make every other one an outlier.
 */
const grain = 2;

/**
 * The indexes of values between others whose surroundings are much thinner than those of their five
 * nearest neighbours (local outlier factor above 5), such as one between two clusters. None when
 * they are more than a tenth of all. Values beyond all others are left to the tests that measure
 * from the middle, because every tail is thin.
 */
export function localOutliers(values: readonly number[]): number[] {
  if (values.length < fewestForNeighbours) return [];
  const order = [...values.keys()].sort((one, other) => (values[one] ?? 0) - (values[other] ?? 0));
  const sorted = order.map((at) => values[at] ?? 0);
  const gaps = sorted.slice(1).map((_, place) => far(sorted, place, place + 1));
  const least = grain * median(gaps.filter((gap) => gap > 0));
  const near = sorted.map((_, place) => nearestOf(sorted, place));
  const reach = near.map((around, place) => Math.max(least, ...around.map((other) => far(sorted, place, other))));
  const density = near.map(
    (around, place) => 1 / mean(around.map((other) => Math.max(reach[other] ?? 0, far(sorted, place, other)))),
  );
  const factor = near.map((around, place) => mean(around.map((other) => density[other] ?? 0)) / (density[place] ?? 1));
  const outliers = order.filter(
    (_, place) => (factor[place] ?? 0) > outlying && place >= neighbours && place < order.length - neighbours,
  );
  return outliers.length > values.length * maxLocalShare ? [] : outliers.sort((one, other) => one - other);
}

function far(sorted: readonly number[], one: number, other: number): number {
  return Math.abs((sorted[one] ?? 0) - (sorted[other] ?? 0));
}

/** The nearest neighbours of an index among sorted values: a window around it. */
function nearestOf(sorted: readonly number[], place: number): number[] {
  let [low, high] = [place - 1, place + 1];
  const found: number[] = [];
  while (found.length < neighbours) {
    const [below, above] = [sorted[low], sorted[high]];
    const toLow = below === undefined ? Number.POSITIVE_INFINITY : far(sorted, place, low);
    const toHigh = above === undefined ? Number.POSITIVE_INFINITY : far(sorted, place, high);
    found.push(toLow <= toHigh ? low-- : high++);
  }
  return found;
}

const maxShare = 0.1;
const gap = 2;
/** With few values, chance leaves wider gaps. */
const widerOfFew = 8;

/**
 * How clearly suspects are separated from the other values, 0 to 1: 0.5 when the nearest of them is
 * twice as far from the median as the furthest of the rest. 0 when it is nearer than that, or when
 * they are more than a tenth of all: long tails and chance also produce far values, but no gap.
 */
export function isOutlier(values: readonly number[], suspects: readonly number[]): number {
  if (suspects.length === 0 || suspects.length > Math.max(1, values.length * maxShare)) return 0;
  const middle = median(values);
  const suspected = new Set(suspects);
  let [nearest, furthest] = [Number.POSITIVE_INFINITY, 0];
  for (const [at, value] of values.entries()) {
    const far = Math.abs(value - middle);
    if (suspected.has(at)) nearest = Math.min(nearest, far);
    else furthest = Math.max(furthest, far);
  }
  return nearest >= (gap + widerOfFew / values.length) * furthest ? 1 - furthest / nearest : 0;
}

const wide = 10;

/**
 * Values prepared for finding outliers: as logarithms when all are positive and of different orders
 * of magnitude, so that growth makes no outliers, and, in ordered series, without their trend.
 */
export function flattened(values: readonly number[], ordered: boolean): number[] {
  const least = values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const greatest = values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  const scaled = least > 0 && greatest / least > wide ? values.map(Math.log) : values;
  const slope = ordered ? (trend(scaled)?.slope ?? 0) : 0;
  return scaled.map((value, at) => value - slope * at);
}
