import { AppError } from "../../../core/errors.ts";
import { median, ranks, twoSided } from "../insights/statistics.ts";
import { pairLines, sampleLine, sizeOf } from "./compare-means.ts";
import { chiSquareUpper, normalReach } from "./distributions.ts";
import { chance, figure, interval, type StatisticsReport } from "./report.ts";
import { requireEach, type Sample } from "./samples.ts";

const shape =
  "similar shape: only if the groups are spread alike does the result speak of their medians; else of which is larger more often.";
const independent = "independent rows: not visible in the data.";

/** The sum of t³ − t over the groups of equal values. */
function tieSum(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum + count ** 3 - count, 0);
}

/** With more values in both samples the normal approximation is as good. */
const maxExact = 8;

/** The Mann-Whitney U of the first sample, and its two-sided p. */
function mannWhitneyU(one: readonly number[], other: readonly number[]) {
  const [n, m] = [one.length, other.length];
  const all = [...one, ...other];
  const ranked = ranks(all);
  const u = ranked.slice(0, n).reduce((sum, rank) => sum + rank, 0) - (n * (n + 1)) / 2;
  const ties = tieSum(all);
  if (ties === 0 && Math.min(n, m) <= maxExact && n * m <= 2_000) return { u, p: exactU(u, n, m), isExact: true };
  const size = n + m;
  const deviation = Math.sqrt(((n * m) / 12) * (size + 1 - ties / (size * (size - 1))));
  const distance = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5);
  return { u, p: deviation > 0 ? twoSided(distance / deviation) : 1, isExact: false };
}

/** By counting the orders in which the samples can mix. */
function exactU(u: number, n: number, m: number): number {
  const most = n * m;
  // ways[k][s]: how many choices of k ranks have the U value s.
  const ways = Array.from({ length: n + 1 }, () => new Float64Array(most + 1));
  for (const row of ways.slice(0, 1)) row[0] = 1;
  for (let rank = 1; rank <= n + m; rank++)
    for (let count = Math.min(rank, n); count >= 1; count--)
      for (let sum = most; sum >= rank - count; sum--) {
        const row = ways[count];
        if (row) row[sum] = (row[sum] ?? 0) + (ways[count - 1]?.[sum - (rank - count)] ?? 0);
      }
  return twoTails(ways[n] ?? new Float64Array(), Math.min(u, most - u));
}

function twoTails(ways: Float64Array, edge: number): number {
  const all = ways.reduce((sum, count) => sum + count, 0);
  const tail = ways.slice(0, Math.floor(edge) + 1).reduce((sum, count) => sum + count, 0);
  return Math.min(1, (2 * tail) / all);
}

/** Whether the values of one sample tend to be larger than another's. */
export function mannWhitney(one: Sample, other: Sample, confidence: number): StatisticsReport {
  requireEach([one, other]);
  const { u, p, isExact } = mannWhitneyU(one.values, other.values);
  const share = u / (one.values.length * other.values.length);
  const effect = 2 * share - 1;
  return {
    title: `Mann-Whitney test: are values of ${one.name} larger or smaller than those of ${other.name}?`,
    lines: [
      sampleLine(one),
      sampleLine(other),
      `U = ${figure(u)}, ${chance(p)} (${isExact ? "exact" : "normal approximation, corrected for ties"})`,
      ...shiftLine(one, other, confidence),
      `effect: a value of ${one.name} is the larger in ${figure(share * 100)} % of pairs; rank-biserial r = ${figure(effect)} (${sizeOf(Math.abs(effect), [0.1, 0.3, 0.5])})`,
    ],
    assumptions: [shape, independent],
  };
}

/** With more pairs their differences are not sorted. */
const maxPairs = 4_000_000;

/**
 * By how much values of one sample are larger: the median of all differences, with the interval of
 * the same name, by the normal approximation.
 */
function shiftLine(one: Sample, other: Sample, confidence: number): string[] {
  const [n, m] = [one.values.length, other.values.length];
  if (n * m > maxPairs) return [];
  const differences = new Float64Array(n * m);
  for (const [at, value] of one.values.entries())
    for (const [by, second] of other.values.entries()) differences[at * m + by] = value - second;
  differences.sort();
  const reach = normalReach(confidence) * Math.sqrt((n * m * (n + m + 1)) / 12);
  const edge = Math.max(0, Math.floor((n * m) / 2 - reach));
  const middle = (at: number) => differences[at] ?? Number.NaN;
  const shift = (middle(Math.floor((n * m - 1) / 2)) + middle(Math.floor((n * m) / 2))) / 2;
  const range = [middle(edge), middle(n * m - 1 - edge)] as const;
  return [
    `difference (${one.name} − ${other.name}, Hodges-Lehmann, if their shape is alike): ${figure(shift)}, ${interval(range, confidence)}`,
  ];
}

const maxSigned = 50;

/** The signed-rank test of differences: the rank sum of the rarer sign, and its two-sided p. */
function signedRanks(differences: readonly number[]) {
  const changed = differences.filter((value) => value !== 0);
  const n = changed.length;
  const sizes = changed.map(Math.abs);
  const ranked = ranks(sizes);
  const above = ranked.reduce((sum, rank, at) => sum + ((changed[at] ?? 0) > 0 ? rank : 0), 0);
  const all = (n * (n + 1)) / 2;
  const w = Math.min(above, all - above);
  const ties = tieSum(sizes);
  if (ties === 0 && n === differences.length && n <= maxSigned)
    return { w, above, all, p: exactW(w, n), isExact: true };
  const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24 - ties / 48);
  const distance = Math.max(0, Math.abs(above - all / 2) - 0.5);
  return { w, above, all, p: deviation > 0 ? twoSided(distance / deviation) : 1, isExact: false };
}

function exactW(w: number, n: number): number {
  const most = (n * (n + 1)) / 2;
  const ways = new Float64Array(most + 1);
  ways[0] = 1;
  for (let rank = 1; rank <= n; rank++)
    for (let sum = most; sum >= rank; sum--) ways[sum] = (ways[sum] ?? 0) + (ways[sum - rank] ?? 0);
  return twoTails(ways, w);
}

/** Whether two measurements of the same things differ. */
export function wilcoxon(sample: Sample): StatisticsReport {
  if (sample.values.every((value) => value === 0))
    throw new AppError("invalid_input", "All pairs are equal; there is nothing to test.");
  const { w, above, all, p, isExact } = signedRanks(sample.values);
  const zeros = sample.values.filter((value) => value === 0).length;
  const effect = (2 * above - all) / all;
  return {
    title: `Wilcoxon signed-rank test: do the pairs differ (${sample.name})?`,
    lines: [
      `${sample.values.length} pairs, median of the differences ${figure(median(sample.values))}${zeros > 0 ? `; pairs without a difference, which do not count: ${zeros}` : ""}`,
      `W = ${figure(w)}, ${chance(p)} (${isExact ? "exact" : "normal approximation, corrected for ties"})`,
      `effect: rank-biserial r = ${figure(effect)} (${sizeOf(Math.abs(effect), [0.1, 0.3, 0.5])})`,
    ],
    assumptions: ["symmetric differences: look at a histogram of them.", "independent pairs: not visible in the data."],
  };
}

/** The Kruskal-Wallis H of several samples, corrected for ties. */
function kruskalH(samples: readonly Sample[]) {
  const all = samples.flatMap(({ values }) => values);
  const ranked = ranks(all);
  const n = all.length;
  let from = 0;
  let sum = 0;
  for (const { values } of samples) {
    const own = ranked.slice(from, from + values.length).reduce((total, rank) => total + rank, 0);
    sum += own ** 2 / values.length;
    from += values.length;
  }
  const h = ((12 / (n * (n + 1))) * sum - 3 * (n + 1)) / (1 - tieSum(all) / (n ** 3 - n));
  return { h, degrees: samples.length - 1, p: chiSquareUpper(h, samples.length - 1), n };
}

/** Whether values of several samples tend to be larger in some, and in which. */
export function kruskalWallis(samples: readonly Sample[]): StatisticsReport {
  requireEach(samples);
  const { h, degrees, p, n } = kruskalH(samples);
  if (!Number.isFinite(h)) throw new AppError("invalid_input", "All values are equal; there is nothing to test.");
  const effect = h / ((n ** 2 - 1) / (n + 1));
  const few = samples.filter(({ values }) => values.length < 5).map(({ name }) => name);
  return {
    title: `Kruskal-Wallis test: are values larger in some of the ${samples.length} groups?`,
    lines: [
      ...samples.map(sampleLine),
      `H = ${figure(h)}, df = ${degrees}, ${chance(p)}`,
      `effect: epsilon² = ${figure(effect)} (${sizeOf(effect, [0.01, 0.08, 0.26])})`,
      ...pairLines(samples, (one, other) => {
        const { u, p: own } = mannWhitneyU(one.values, other.values);
        const share = (100 * u) / (one.values.length * other.values.length);
        return { text: `the first is the larger in ${figure(share)} % of pairs`, p: own };
      }),
    ],
    assumptions: [
      few.length > 0
        ? `at least 5 values a group: does not hold in ${few.join(", ")}: p is rough.`
        : "at least 5 values a group: holds.",
      shape,
      independent,
    ],
  };
}
