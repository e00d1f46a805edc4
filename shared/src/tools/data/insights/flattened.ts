import { trend } from "./trend.ts";

const wide = 10;

/**
 * Values as outliers are looked for in them: as logarithms when all are positive and of different orders of magnitude, so that growth makes none, and, in order,
 * without their trend.
 */
export function flattened(values: readonly number[], ordered: boolean): number[] {
  const least = values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const greatest = values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  const scaled = least > 0 && greatest / least > wide ? values.map(Math.log) : values;
  const slope = ordered ? (trend(scaled)?.slope ?? 0) : 0;
  return scaled.map((value, at) => value - slope * at);
}
