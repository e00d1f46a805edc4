import { median } from "./statistics.ts";

const mostShare = 0.1;
const gap = 2;
/** With few values chance leaves wider gaps. */
const widerOfFew = 8;

/**
 * How clearly suspects stand apart from the other values, 0 to 1: 0.5 when the nearest of them is twice as far from the median as the furthest of the rest.
 * 0 when it is nearer than that, or when they are more than a tenth of all: a long tail and chance have far values too, but no gap.
 */
export function standsApart(values: readonly number[], suspects: readonly number[]): number {
  if (suspects.length === 0 || suspects.length > Math.max(1, values.length * mostShare)) return 0;
  const middle = median(values);
  const suspected = new Set(suspects);
  let [nearest, furthest] = [Number.POSITIVE_INFINITY, 0];
  for (const [at, value] of values.entries()) {
    const far = Math.abs(value - middle);
    if (suspected.has(at)) nearest = Math.min(nearest, far);
    else furthest = Math.max(furthest, far);
  }
  return nearest >= (gap + widerOfFew / values.length) * furthest ? 1 - furthest / nearest : 0;
}
