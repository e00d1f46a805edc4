import { quantile } from "./statistics.ts";

const fewest = 5;
const reach = 1.5;

/** The places of values beyond Tukey's fences, one and a half times the interquartile range outside the quartiles. */
export function statisticsAbnormal(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  const range = reach * (high - low);
  return [...values.keys()].filter((at) => {
    const value = values[at] ?? low;
    return value < low - range || value > high + range;
  });
}
