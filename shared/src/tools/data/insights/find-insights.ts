import { abnormal } from "./abnormal.ts";
import { dbscan } from "./dbscan.ts";
import { localOutliers } from "./local-outliers.ts";
import { majority } from "./majority.ts";
import { pageHinkley } from "./page-hinkley.ts";
import { pearson } from "./pearson.ts";
import { spearman } from "./spearman.ts";
import { deviation, mean, quantile } from "./statistics.ts";
import { statisticsAbnormal } from "./statistics-abnormal.ts";
import { statisticsBase } from "./statistics-base.ts";
import { trend } from "./trend.ts";
import { turningPoint } from "./turning-point.ts";
import { volatility } from "./volatility.ts";

/** Numbers with the labels of their places. `ordered`: the places follow each other, as in time. */
export type Series = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly values: readonly number[];
  readonly ordered: boolean;
};

/** What was found in which series. `at` are the labels it is about; the figures are what the sentence is made of. */
export type Finding = {
  readonly type: string;
  readonly series: string;
  readonly at: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
};

const mostPlaces = 10;
const mostPoints = 1000;
const strong = 0.6;
const jumpy = 0.2;

/** What can be said about one series. Of a longer one the first thousand values are looked at. */
export function findInSeries(whole: Series): Finding[] {
  const { name, ordered } = whole;
  const values = whole.values.slice(0, mostPoints);
  const found: Finding[] = [];
  const add = (type: string, places: readonly number[], figures: Finding["figures"] = {}) =>
    found.push({ type, series: name, at: places.slice(0, mostPlaces).map((at) => whole.labels[at] ?? ""), figures });
  const base = statisticsBase(values);
  if (base) {
    const { sum, mean, median, least, greatest } = base;
    const figures = { sum, mean, median, least: least.value, greatest: greatest.value };
    add("statistics_base", [least.at, greatest.at], figures);
  }
  if (ordered) findInOrder(values, add);
  const share = ordered ? undefined : majority(values);
  if (share) add("majority_value", [share.at], { share: share.share });
  for (const [type, places] of [
    ["abnormal_value", abnormal(values)],
    ["statistics_abnormal", statisticsAbnormal(values)],
    ["lof_outlier", localOutliers(values.map((value) => [value]))],
  ] as const)
    if (places.length > 0) add(type, places, { count: places.length });
  return found;
}

function findInOrder(
  values: readonly number[],
  add: (type: string, places: readonly number[], figures?: Finding["figures"]) => void,
): void {
  const movement = trend(values);
  if (movement) add("overall_trend", [], { slope: movement.slope, p: movement.p });
  const turn = turningPoint(values);
  if (turn !== undefined) add("turning_point", [turn], { value: values[turn] ?? 0 });
  const shift = pageHinkley(values);
  // A steady climb leaves every level behind, which its trend says already.
  const isStep = shift !== undefined && !trend(values.slice(0, shift)) && !trend(values.slice(shift));
  if (isStep) add("page_hinkley", [shift], { before: mean(values.slice(0, shift)), after: mean(values.slice(shift)) });
  const jumps = volatility(values);
  if (jumps !== undefined && jumps > jumpy) add("volatility", [], { jumps });
}

/** What can be said about two series of the same places together. */
export function findInPair(one: Series, other: Series): Finding[] {
  const [xs, ys] = [one.values.slice(0, mostPoints), other.values.slice(0, mostPoints)];
  const series = `${one.name} × ${other.name}`;
  const found: Finding[] = [];
  for (const [type, coefficient] of [
    ["pearson_correlation", pearson(xs, ys)],
    ["spearman_correlation", spearman(xs, ys)],
  ] as const)
    if (xs.length > 3 && coefficient !== undefined && Math.abs(coefficient) >= strong)
      found.push({ type, series, at: [], figures: { coefficient } });
  const labels = dbscan(scaled(xs, ys), radiusOf(xs.length));
  const clusters = Math.max(...labels, -1) + 1;
  const noise = labels.flatMap((label, at) => (label === -1 ? [one.labels[at] ?? ""] : []));
  if (clusters > 1 || (clusters === 1 && noise.length > 0 && noise.length <= xs.length / 10))
    found.push({
      type: "dbscan_clusters",
      series,
      at: noise.slice(0, mostPlaces),
      figures: { clusters, noise: noise.length },
    });
  return found;
}

/** Both axes in robust units, so that neither outweighs the other. */
function scaled(xs: readonly number[], ys: readonly number[]): number[][] {
  const unit = (values: readonly number[]) => quantile(values, 0.75) - quantile(values, 0.25) || deviation(values) || 1;
  const [unitX, unitY] = [unit(xs), unit(ys)];
  return xs.map((x, at) => [x / unitX, (ys[at] ?? 0) / unitY]);
}

function radiusOf(points: number): number {
  return Math.min(0.5, 3 / Math.sqrt(Math.max(points, 1)));
}
