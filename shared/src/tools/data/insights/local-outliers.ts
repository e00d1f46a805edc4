import { mean, median } from "./statistics.ts";

const neighbours = 5;
const fewest = 12;
const outlying = 5;
const mostShare = 0.1;
/** Distances below so many of the usual gap between different values count as equal, so that repeated values do not make every other one an outlier. */
const grain = 2;

/**
 * The places of values between others in much thinner surroundings than their five nearest neighbours (local outlier factor above 5), such as one between two
 * heaps. None when they are more than a tenth of all. What lies beyond all others is left to the tests that look from the middle: every tail is thin.
 */
export function localOutliers(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
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
  return outliers.length > values.length * mostShare ? [] : outliers.sort((one, other) => one - other);
}

function far(sorted: readonly number[], one: number, other: number): number {
  return Math.abs((sorted[one] ?? 0) - (sorted[other] ?? 0));
}

/** The nearest neighbours of a place among sorted values: a window around it. */
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
