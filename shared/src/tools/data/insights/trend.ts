import { median, thinned, twoSided } from "./statistics.ts";

/**
 * A monotonic movement: the median change per step, the value of that line at the first place, how
 * much of the order of the values it explains (Kendall's tau, -1 to 1), and the probability of so
 * much order by chance.
 */
export type Trend = { readonly slope: number; readonly start: number; readonly tau: number; readonly p: number };

const fewest = 5;
const significant = 0.05;
/** With more values, chance produces less order, so more order can be required. */
const many = 8;
const significantOfMany = 0.01;
const weakest = 0.5;
const maxPoints = 400;

/**
 * Whether a series rises or falls overall (Mann-Kendall test with ties, Sen's slope); undefined
 * when it may be chance or is slight.
 */
export function trend(values: readonly number[]): Trend | undefined {
  const n = Math.min(values.length, maxPoints);
  if (n < fewest) return undefined;
  const points = thinned(values, maxPoints);
  let order = 0;
  const slopes: number[] = [];
  for (const [later, { at, value }] of points.entries())
    for (let earlier = 0; earlier < later; earlier++) {
      const before = points[earlier] ?? { at: 0, value: 0 };
      order += Math.sign(value - before.value);
      slopes.push((value - before.value) / (at - before.at));
    }
  const spread = Math.sqrt((n * (n - 1) * (2 * n + 5) - tied(points.map(({ value }) => value))) / 18);
  const p = spread > 0 ? twoSided((order - Math.sign(order)) / spread) : 1;
  const tau = order / ((n * (n - 1)) / 2);
  if (p >= (n < many ? significant : significantOfMany) || Math.abs(tau) < weakest) return undefined;
  const slope = median(slopes);
  return slope === 0 ? undefined : { slope, start: median(points.map(({ at, value }) => value - slope * at)), tau, p };
}

/** How much equal values reduce the variance of the test. */
function tied(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].reduce((sum, t) => sum + t * (t - 1) * (2 * t + 5), 0);
}
