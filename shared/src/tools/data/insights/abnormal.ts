import { median, robustDeviation } from "./statistics.ts";

const fewest = 8;
const farOff = 3.5;
/** The middle of few values is known less well. */
const moreOfFew = 12;

/** The places of values far from the median, measured by the median absolute deviation (3.5 of them and more, the fewer the values are). */
export function abnormal(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
  const [middle, spread] = [median(values), robustDeviation(values)];
  if (spread === 0) return [];
  const bound = (farOff + moreOfFew / values.length) * spread;
  return [...values.keys()].filter((at) => Math.abs((values[at] ?? middle) - middle) > bound);
}
