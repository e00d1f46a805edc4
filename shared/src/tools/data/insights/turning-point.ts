import { thinned } from "./statistics.ts";
import { trend } from "./trend.ts";

/**
 * Where a series turns, its value there, and how much better two lines fit than one (1: perfectly).
 */
export type TurningPoint = { readonly at: number; readonly value: number; readonly gain: number };

const nearest = 4;
const better = 0.5;
const maxPoints = 200;

/**
 * The place at which a series turns from rising to falling or the reverse: where two lines leave at
 * most half the error of one, and each side is a trend by itself; undefined when it does not turn.
 */
export function turningPoint(values: readonly number[]): TurningPoint | undefined {
  const points = thinned(values, maxPoints);
  const thin = points.map(({ value }) => value);
  const whole = line(thin).error;
  let best: { at: number; error: number } | undefined;
  for (let at = nearest; at < thin.length - nearest; at++) {
    const [before, after] = [line(thin.slice(0, at + 1)), line(thin.slice(at))];
    const error = before.error + after.error;
    if (before.slope * after.slope < 0 && error < whole * better && error < (best?.error ?? Number.POSITIVE_INFINITY)) {
      best = { at, error };
    }
  }
  if (best === undefined) return undefined;
  const [before, after] = [trend(thin.slice(0, best.at + 1)), trend(thin.slice(best.at))];
  const point = points[best.at];
  if (!before || !after || before.slope * after.slope > 0 || point === undefined) return undefined;
  return { ...point, gain: 1 - best.error / whole };
}

/** The least-squares line: its slope, and the remaining sum of squares. */
function line(values: readonly number[]): { slope: number; error: number } {
  const middleX = (values.length - 1) / 2;
  const middleY = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [shared, spread] = [0, 0];
  for (const [x, y] of values.entries()) {
    shared += (x - middleX) * (y - middleY);
    spread += (x - middleX) ** 2;
  }
  const slope = spread === 0 ? 0 : shared / spread;
  const error = values.reduce((sum, y, x) => sum + (y - middleY - slope * (x - middleX)) ** 2, 0);
  return { slope, error };
}
