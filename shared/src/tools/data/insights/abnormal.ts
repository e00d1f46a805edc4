import { median, robustDeviation } from "./statistics.ts";

const fewest = 8;
const farOff = 3.5;
/** The middle of few values is known less well. */
const moreOfFew = 12;

/** What is left of values that are the same but for how they were computed. */
const roundingError = 1e-9;

/**
 * The places of values far from the median, measured by the median absolute deviation (3.5 of them and more, the fewer the values are). Where most values are the
 * same, only one that alone is another is far from them.
 */
export function abnormal(values: readonly number[]): number[] {
  if (values.length < fewest) return [];
  const [middle, spread] = [median(values), robustDeviation(values)];
  const rounding = roundingError * values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bound = (farOff + moreOfFew / values.length) * spread;
  const beyond = (far: number) => [...values.keys()].filter((at) => Math.abs((values[at] ?? middle) - middle) > far);
  if (spread > rounding) return beyond(bound);
  const others = beyond(rounding);
  return others.length === 1 ? others : [];
}
