const fewest = 6;
const nearest = 2;
const better = 0.5;

/** The place at which a series turns from rising to falling or back: where two lines fit at least twice as well as one; undefined when it does not turn. */
export function turningPoint(values: readonly number[]): number | undefined {
  if (values.length < fewest) return undefined;
  const whole = line(values).error;
  let best: { at: number; error: number } | undefined;
  for (let at = nearest; at < values.length - nearest; at++) {
    const [before, after] = [line(values.slice(0, at + 1)), line(values.slice(at))];
    const error = before.error + after.error;
    if (before.slope * after.slope < 0 && error < whole * better && error < (best?.error ?? Number.POSITIVE_INFINITY)) {
      best = { at, error };
    }
  }
  return best?.at;
}

/** The line of least squares: its slope, and the sum of squares it leaves. */
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
