import { mean, median } from "./statistics.ts";

/** A series in a few numbers, with the places of its extremes. */
export type BaseStatistics = {
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly least: { readonly value: number; readonly at: number };
  readonly greatest: { readonly value: number; readonly at: number };
};

const fewest = 3;

/** Undefined of fewer than three values, and of equal ones. */
export function statisticsBase(values: readonly number[]): BaseStatistics | undefined {
  const extreme = (value: number) => ({ value, at: values.indexOf(value) });
  const least = values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const greatest = values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  if (values.length < fewest || least === greatest) return undefined;
  return {
    sum: values.reduce((sum, value) => sum + value, 0),
    mean: mean(values),
    median: median(values),
    least: extreme(least),
    greatest: extreme(greatest),
  };
}
