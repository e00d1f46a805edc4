import { pearson } from "./pearson.ts";
import { ranks } from "./statistics.ts";

/** The correlation of the ranks of two series, which sees any monotonic relation; undefined when one does not vary. */
export function spearman(xs: readonly number[], ys: readonly number[]): number | undefined {
  return pearson(ranks(xs), ranks(ys));
}
