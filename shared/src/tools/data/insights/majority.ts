const most = 0.5;
const fewest = 3;

/** The one part that makes up more than half of a whole of at least three parts, none negative; undefined when none does. */
export function majority(values: readonly number[]): { readonly at: number; readonly share: number } | undefined {
  const whole = values.reduce((sum, value) => sum + value, 0);
  if (values.length < fewest || whole <= 0 || values.some((value) => value < 0)) return undefined;
  const at = values.findIndex((value) => value / whole > most);
  return at < 0 ? undefined : { at, share: (values[at] ?? 0) / whole };
}
