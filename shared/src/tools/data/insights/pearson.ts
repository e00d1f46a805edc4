import { deviation, mean } from "./statistics.ts";

/** The linear correlation of two series of equal length, -1 to 1; undefined when one does not vary. */
export function pearson(xs: readonly number[], ys: readonly number[]): number | undefined {
  const spread = deviation(xs) * deviation(ys);
  if (!(spread > 0)) return undefined;
  const [middleX, middleY] = [mean(xs), mean(ys)];
  const shared = mean(xs.map((x, at) => (x - middleX) * ((ys[at] ?? Number.NaN) - middleY)));
  return Math.max(-1, Math.min(1, shared / spread));
}
