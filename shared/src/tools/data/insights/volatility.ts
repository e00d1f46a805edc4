import { deviation, mean } from "./statistics.ts";

const fewest = 4;

/** How much a series jumps from step to step, as a share of its mean level (0.3: by about 30 %); undefined where it has no level. */
export function volatility(values: readonly number[]): number | undefined {
  if (values.length < fewest) return undefined;
  const level = Math.abs(mean(values));
  const changes = values.slice(1).map((value, at) => value - (values[at] ?? value));
  return level > 0 ? deviation(changes) / level : undefined;
}
