/** The arithmetic mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The standard deviation of a whole population. */
export function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** The value below which the share `part` (0 to 1) falls, interpolated; NaN for no values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * part;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * A standard deviation that a few extreme values do not affect: the median distance from the
 * median, scaled for a normal distribution.
 */
export function robustDeviation(values: readonly number[]): number {
  const middle = median(values);
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)));
}

/** The rank of each value from 1; equal values share the mean of their ranks. */
export function ranks(values: readonly number[]): number[] {
  const order = [...values.keys()].sort((one, other) => (values[one] ?? 0) - (values[other] ?? 0));
  const ranked = values.map(() => 0);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to + 1 < order.length && values[order[to + 1] ?? 0] === values[order[from] ?? 0]) to++;
    for (const at of order.slice(from, to + 1)) ranked[at] = (from + to) / 2 + 1;
    from = to + 1;
  }
  return ranked;
}

/** The Euclidean distance of two points. */
export function distance(one: readonly number[], other: readonly number[]): number {
  return Math.hypot(...one.map((value, axis) => value - (other[axis] ?? 0)));
}

/**
 * At most `most` of the values with their indexes, evenly spread, including the first and the last.
 */
export function thinned(values: readonly number[], most: number): { readonly at: number; readonly value: number }[] {
  const count = Math.min(most, values.length);
  return Array.from({ length: count }, (_, index) => {
    const at = count < 2 ? 0 : Math.round((index * (values.length - 1)) / (count - 1));
    return { at, value: values[at] ?? Number.NaN };
  });
}

/**
 * The linear correlation of two series of equal length, -1 to 1; undefined when one does not vary.
 */
export function pearson(xs: readonly number[], ys: readonly number[]): number | undefined {
  const spread = deviation(xs) * deviation(ys);
  if (!(spread > 0)) return undefined;
  const [middleX, middleY] = [mean(xs), mean(ys)];
  const shared = mean(xs.map((x, at) => (x - middleX) * ((ys[at] ?? Number.NaN) - middleY)));
  return Math.max(-1, Math.min(1, shared / spread));
}

/**
 * The rank correlation of two series, which detects any monotonic relation; undefined when one does
 * not vary.
 */
export function spearman(xs: readonly number[], ys: readonly number[]): number | undefined {
  return pearson(ranks(xs), ranks(ys));
}

/**
 * The share of a normal distribution at least this many deviations from its middle, in either
 * direction (Abramowitz and Stegun 7.1.26).
 */
export function twoSided(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return series * Math.exp(-x * x);
}

/**
 * The probability of a correlation at least this strong between `points` unrelated pairs (Fisher's
 * transformation); 1 when there are too few to tell.
 */
export function chanceOfCorrelation(coefficient: number, points: number): number {
  if (points < 4) return 1;
  const bounded = Math.min(Math.abs(coefficient), 1 - 1e-12);
  return twoSided(Math.atanh(bounded) * Math.sqrt((points - 3) / 1.06));
}
