/** The arithmetic mean; NaN of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The standard deviation of a whole population. */
export function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** The value below which the share `part` (0 to 1) lies, interpolated; NaN of nothing. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * part;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A standard deviation that a few wild values do not move: the median distance from the median, scaled for a normal distribution. */
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

/** At most `most` of the values with their places, evenly spread, the first and last among them. */
export function thinned(values: readonly number[], most: number): { readonly at: number; readonly value: number }[] {
  const count = Math.min(most, values.length);
  return Array.from({ length: count }, (_, index) => {
    const at = count < 2 ? 0 : Math.round((index * (values.length - 1)) / (count - 1));
    return { at, value: values[at] ?? Number.NaN };
  });
}
