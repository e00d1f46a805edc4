import { mean, median } from "./statistics.ts";

/**
 * The typical level, and the size of a typical step apart from the drift: as an amount and as a
 * share of the level.
 */
export type Volatility = { readonly level: number; readonly step: number; readonly share: number };

const fewest = 8;
const jumpy = 0.25;
/** In a series that keeps its direction, the steps are a trend, however large. */
const fewestTurns = 1 / 3;

/**
 * Whether a series jumps up and down from step to step by at least a quarter of its level, in its
 * typical (median) step, so that one outlier does not count; undefined otherwise, and when values
 * of both signs leave no level to compare with.
 */
export function volatility(values: readonly number[]): Volatility | undefined {
  if (values.length < fewest || !(values.every((value) => value >= 0) || values.every((value) => value <= 0)))
    return undefined;
  const steps = values.slice(1).map((value, at) => value - (values[at] ?? value));
  const turns = steps.slice(1).filter((step, at) => step * (steps[at] ?? 0) < 0).length;
  const drift = mean(steps);
  const step = median(steps.map((each) => Math.abs(each - drift)));
  const level = median(values);
  const share = step / Math.abs(level);
  if (!(Number.isFinite(share) && share >= jumpy) || turns < fewestTurns * (steps.length - 1)) return undefined;
  return { level, step, share };
}
