import { mean } from "../insights/statistics.ts";
import { chiSquareUpper } from "./distributions.ts";
import { chance, figure } from "./report.ts";

const fewest = 20;
const named = "D'Agostino and Pearson's K²";

/**
 * The test for skewness and tails unlike a normal distribution's (D'Agostino and Pearson's K²);
 * undefined with fewer than 20 values or without spread.
 */
export function normality(values: readonly number[]): { readonly p: number; readonly skew: number } | undefined {
  const n = values.length;
  if (n < fewest) return undefined;
  const middle = mean(values);
  const moment = (power: number) => mean(values.map((value) => (value - middle) ** power));
  const variance = moment(2);
  if (!(variance > 0)) return undefined;
  const [skew, kurtosis] = [moment(3) / variance ** 1.5, moment(4) / variance ** 2];
  const statistic = skewScore(skew, n) ** 2 + kurtosisScore(kurtosis, n) ** 2;
  return { p: chiSquareUpper(statistic, 2), skew };
}

function skewScore(skew: number, n: number): number {
  const y = skew * Math.sqrt(((n + 1) * (n + 3)) / (6 * (n - 2)));
  const beta = (3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3)) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
  const squared = Math.sqrt(2 * (beta - 1)) - 1;
  return Math.asinh(y / Math.sqrt(2 / (squared - 1))) / Math.sqrt(0.5 * Math.log(squared));
}

function kurtosisScore(kurtosis: number, n: number): number {
  const expected = (3 * (n - 1)) / (n + 1);
  const variance = (24 * n * (n - 2) * (n - 3)) / ((n + 1) ** 2 * (n + 3) * (n + 5));
  const x = (kurtosis - expected) / Math.sqrt(variance);
  const beta =
    ((6 * (n * n - 5 * n + 2)) / ((n + 7) * (n + 9))) * Math.sqrt((6 * (n + 3) * (n + 5)) / (n * (n - 2) * (n - 3)));
  const a = 6 + (8 / beta) * (2 / beta + Math.sqrt(1 + 4 / (beta * beta)));
  const rest = (1 - 2 / a) / (1 + x * Math.sqrt(2 / (a - 4)));
  return (1 - 2 / (9 * a) - Math.cbrt(rest)) / Math.sqrt(2 / (9 * a));
}

/** With this many values a mean is close to normal even if the values are not. */
const many = 40;

/**
 * Whether values are near enough to normal for a test of means; `instead` is what to use if not.
 */
export function normalityLine(
  parts: readonly { readonly name: string; readonly values: readonly number[] }[],
  instead: string,
): string {
  const small = parts.filter(({ values }) => values.length < fewest).map(({ name }) => name);
  const odd = parts.flatMap(({ name, values }) => {
    const tested = normality(values);
    return tested !== undefined && tested.p < 0.05 ? [{ name, n: values.length, ...tested }] : [];
  });
  const told = odd.map(({ name, p, skew }) => `${name} (${chance(p)}, skewness ${figure(skew)})`).join(", ");
  const untold = small.length > 0 ? ` Too few values to tell in ${small.join(", ")}.` : "";
  if (odd.length === 0)
    return small.length === parts.length
      ? `normal values: too few (below ${fewest}) to tell; ${instead} does not need it.`
      : `normal values: holds where it can be tested (${named}).${untold}`;
  const matters = odd.some(({ n, skew }) => n < many || Math.abs(skew) > 2);
  const way = matters ? `prefer ${instead}` : "with so many values the test of means still serves";
  return `normal values: does not hold in ${told} by ${named}: ${way}.${untold}`;
}
