import { quantile } from "./statistics.ts";

/** A monotonic movement: the median change a step, and how likely so much order is by chance. */
export type Trend = { readonly direction: "up" | "down"; readonly slope: number; readonly p: number };

const fewest = 4;
const significant = 0.05;

/** Whether a series rises or falls on the whole (Mann-Kendall test, Sen's slope); undefined when it may be chance. */
export function trend(values: readonly number[]): Trend | undefined {
  const n = values.length;
  if (n < fewest) return undefined;
  let order = 0;
  const slopes: number[] = [];
  for (const [later, value] of values.entries())
    for (const [earlier, before] of values.slice(0, later).entries()) {
      order += Math.sign(value - before);
      slopes.push((value - before) / (later - earlier));
    }
  const spread = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const p = twoSided((order - Math.sign(order)) / spread);
  if (p >= significant) return undefined;
  return { direction: order > 0 ? "up" : "down", slope: quantile(slopes, 0.5), p };
}

/** The share of a normal distribution at least this far from its middle (Abramowitz and Stegun 7.1.26). */
function twoSided(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return series * Math.exp(-x * x);
}
