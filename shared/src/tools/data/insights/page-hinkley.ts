import { deviation } from "./statistics.ts";

const fewest = 10;
/** Both in standard deviations of the series: the drift that is let pass, and the sum of surprise that is a change. */
const tolerated = 0.25;
const alarm = 4;

/** Where the level of a series first shifts for good (Page-Hinkley test, both ways): the place at which the change set in; undefined when it does not. */
export function pageHinkley(values: readonly number[]): number | undefined {
  const unit = deviation(values);
  if (values.length < fewest || !(unit > 0)) return undefined;
  let [mean, up, down] = [0, 0, 0];
  let [lowest, highest, lowAt, highAt] = [0, 0, 0, 0];
  for (const [at, value] of values.entries()) {
    mean += (value - mean) / (at + 1);
    up += (value - mean) / unit - tolerated;
    down += (value - mean) / unit + tolerated;
    if (up <= lowest) [lowest, lowAt] = [up, at + 1];
    if (down >= highest) [highest, highAt] = [down, at + 1];
    if (up - lowest > alarm) return lowAt;
    if (highest - down > alarm) return highAt;
  }
  return undefined;
}
