import { mean, quantile } from "./statistics.ts";

/** A series in a few numbers, with the places of its extremes. */
export type BaseStatistics = {
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly least: { readonly value: number; readonly at: number };
  readonly greatest: { readonly value: number; readonly at: number };
};

/** Undefined of nothing. */
export function statisticsBase(values: readonly number[]): BaseStatistics | undefined {
  if (values.length === 0) return undefined;
  const extreme = (value: number) => ({ value, at: values.indexOf(value) });
  return {
    sum: values.reduce((sum, value) => sum + value, 0),
    mean: mean(values),
    median: quantile(values, 0.5),
    least: extreme(values.reduce((one, other) => Math.min(one, other))),
    greatest: extreme(values.reduce((one, other) => Math.max(one, other))),
  };
}
