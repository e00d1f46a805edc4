import { quantile } from "./statistics.ts";

const fewest = 8;
const reach = 3;

/** The places of values beyond Tukey's outer fences, three times the interquartile range outside the quartiles. */
export function statisticsAbnormal(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  const range = reach * (high - low);
  if (range === 0) return [];
  return [...values.keys()].filter((at) => {
    const value = values[at] ?? low;
    return value < low - range || value > high + range;
  });
}
