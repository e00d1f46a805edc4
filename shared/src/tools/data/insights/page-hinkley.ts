import { deviation, mean, median, quantile, ranks, robustDeviation, twoSided } from "./statistics.ts";
import { trend } from "./trend.ts";

/**
 * Where a level changed, the mean before and from then on, and the difference in deviations of the
 * values around their level.
 */
export type Shift = { readonly at: number; readonly before: number; readonly after: number; readonly size: number };

const fewest = 12;
const fewestASide = 5;
/**
 * All in deviations: the drift that is tolerated, the sum of surprise that counts as a change, and
 * the smallest change worth reporting.
 */
const tolerated = 0.25;
const alarm = 4;
const smallest = 2;
const significant = 0.001;

/**
 * Where the level of a series shifts permanently (Page-Hinkley test in both directions, extreme
 * values clipped first): undefined when it does not, when a rank test finds the two sides alike,
 * and when one side moves by itself, because a rise also leaves every level behind.
 */
export function pageHinkley(values: readonly number[]): Shift | undefined {
  if (values.length < fewest) return undefined;
  const at = alarmAt(tamed(values));
  if (at === undefined || at < fewestASide || values.length - at < fewestASide) return undefined;
  const [before, after] = [values.slice(0, at), values.slice(at)];
  const around = robustDeviation([...fromMiddle(before), ...fromMiddle(after)]);
  const size = around > 0 ? Math.abs(median(after) - median(before)) / around : Number.POSITIVE_INFINITY;
  if (size < smallest || rankTest(before, after) >= significant || trend(before) || trend(after)) return undefined;
  return { at, before: mean(before), after: mean(after), size };
}

/**
 * Values clipped at the outer fences of the whole, so that a single extreme one raises no alarm.
 */
function tamed(values: readonly number[]): number[] {
  const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
  const range = 0.5 * (high - low);
  return values.map((value) => Math.min(Math.max(value, low - range), high + range));
}

function fromMiddle(values: readonly number[]): number[] {
  const middle = median(values);
  return values.map((value) => value - middle);
}

function alarmAt(values: readonly number[]): number | undefined {
  const unit = deviation(values);
  if (!(unit > 0)) return undefined;
  let [level, up, down] = [0, 0, 0];
  let [lowest, highest, lowAt, highAt] = [0, 0, 0, 0];
  for (const [at, value] of values.entries()) {
    level += (value - level) / (at + 1);
    up += (value - level) / unit - tolerated;
    down += (value - level) / unit + tolerated;
    if (up <= lowest) [lowest, lowAt] = [up, at + 1];
    if (down >= highest) [highest, highAt] = [down, at + 1];
    if (up - lowest > alarm) return lowAt;
    if (highest - down > alarm) return highAt;
  }
  return undefined;
}

/** The probability that two samples of one source differ so much in rank (Mann-Whitney). */
function rankTest(one: readonly number[], other: readonly number[]): number {
  const ranked = ranks([...one, ...other]);
  const [n, m] = [one.length, other.length];
  const sum = ranked.slice(0, n).reduce((total, rank) => total + rank, 0);
  return twoSided((sum - (n * (n + m + 1)) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12));
}
