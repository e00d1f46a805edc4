import { quantile } from "./statistics.ts";

const fewest = 5;
const farOff = 3.5;
const madOfNormal = 0.6745;

/** The places of values far from the median, measured by the median absolute deviation (modified z-score above 3.5). */
export function abnormal(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
  const middle = quantile(values, 0.5);
  const spread = quantile(
    values.map((value) => Math.abs(value - middle)),
    0.5,
  );
  if (spread === 0) return [];
  return [...values.keys()].filter((at) => (madOfNormal * Math.abs((values[at] ?? middle) - middle)) / spread > farOff);
}
