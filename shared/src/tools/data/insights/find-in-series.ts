import { type Finding, labelsAt, type Series } from "./finding.ts";
import { abnormal, flattened, isOutlier, localOutliers, statisticsAbnormal } from "./outliers.ts";
import { pageHinkley } from "./page-hinkley.ts";
import { mean, median } from "./statistics.ts";
import { trend } from "./trend.ts";
import { turningPoint } from "./turning-point.ts";
import { volatility } from "./volatility.ts";

/** Facts that every series has come after all findings. */
const weakest = 0.1;
const ofLocal = 0.5;
/**
 * With more zeros than that, neither mean nor median is what a value usually is when there is one.
 */
const mostlyZeros = 0.5;
/**
 * A movement by less than this share of the level is not worth reporting, however certain it is.
 */
const smallestEffect = 0.1;

/** The findings about one series. */
export function findInSeries(series: Series): Finding[] {
  return [...baseOf(series), ...majorityOf(series), ...(series.ordered ? inOrder(series) : []), ...outliersOf(series)];
}

function baseOf({ name, labels, values, adds }: Series): Finding[] {
  const base = statisticsBase(values);
  if (!base) return [];
  const { sum, mean, median, least, greatest } = base;
  const zeros = values.filter((value) => value === 0).length / values.length;
  const figures = {
    ...(adds && { sum }),
    ...(zeros > mostlyZeros && { zeros }),
    mean,
    median,
    least: least.value,
    greatest: greatest.value,
  };
  const at = labelsAt({ labels }, [least.at, greatest.at]);
  return [{ type: "statistics_base", series: name, at, figures, strength: weakest }];
}

function majorityOf({ name, labels, values, ordered, adds }: Series): Finding[] {
  const found = ordered || !adds ? undefined : majority(values);
  if (!found) return [];
  const at = labelsAt({ labels }, [found.at]);
  return [{ type: "majority_value", series: name, at, figures: { share: found.share }, strength: found.share }];
}

function inOrder({ name, labels, values }: Series): Finding[] {
  const found: Finding[] = [];
  const level = median(values.map(Math.abs));
  const isNews = (change: number) => level === 0 || Math.abs(change) >= smallestEffect * level;
  const shift = pageHinkley(values);
  if (shift && isNews(shift.after - shift.before)) {
    const { at, size, ...figures } = shift;
    found.push({
      type: "page_hinkley",
      series: name,
      at: labelsAt({ labels }, [at]),
      figures,
      strength: 1 - 1 / size,
    });
  }
  // Two levels are not a trend, though one is higher than the other.
  const movement = shift ? undefined : trend(values);
  if (movement && isNews(movement.slope * (values.length - 1))) {
    const { tau, ...figures } = movement;
    const at = labelsAt({ labels }, [0, values.length - 1]);
    found.push({ type: "overall_trend", series: name, at, figures, strength: Math.abs(tau) });
  }
  const turn = turningPoint(values);
  if (turn && isNews(Math.max(...values) - Math.min(...values))) {
    const at = labelsAt({ labels }, [turn.at]);
    found.push({ type: "turning_point", series: name, at, figures: { value: turn.value }, strength: turn.gain });
  }
  const jumps = volatility(values);
  if (jumps) {
    const strength = jumps.share / (jumps.share + 0.5);
    found.push({ type: "volatility", series: name, at: [], figures: jumps, strength });
  }
  return found;
}

/** A place that several tests find is reported once, by the first test. */
function outliersOf({ name, labels, values, ordered }: Series): Finding[] {
  const flat = flattened(values, ordered);
  const told = new Set<number>();
  return (["abnormal_value", "statistics_abnormal", "lof_outlier"] as const).flatMap((type): Finding[] => {
    const places = outlierTests[type](flat);
    const strength = type === "lof_outlier" ? ofLocal : isOutlier(flat, places);
    if (strength === 0 || places.every((at) => told.has(at))) return [];
    for (const at of places) told.add(at);
    return [{ type, series: name, at: labelsAt({ labels }, places), figures: { count: places.length }, strength }];
  });
}

const outlierTests = {
  abnormal_value: abnormal,
  statistics_abnormal: statisticsAbnormal,
  lof_outlier: localOutliers,
};

const majorityShare = 0.5;
const fewestParts = 3;

/**
 * The one part that makes up more than half of a whole of at least three parts, none negative;
 * undefined when no part does.
 */
export function majority(values: readonly number[]): { readonly at: number; readonly share: number } | undefined {
  const whole = values.reduce((sum, value) => sum + value, 0);
  if (values.length < fewestParts || whole <= 0 || values.some((value) => value < 0)) return undefined;
  const at = values.findIndex((value) => value / whole > majorityShare);
  return at < 0 ? undefined : { at, share: (values[at] ?? 0) / whole };
}

/** A series in a few numbers, with the places of its extremes. */
export type BaseStatistics = {
  readonly sum: number;
  readonly mean: number;
  readonly median: number;
  readonly least: { readonly value: number; readonly at: number };
  readonly greatest: { readonly value: number; readonly at: number };
};

const fewestForBase = 3;

/** Undefined when there are fewer than three values, or all are equal. */
export function statisticsBase(values: readonly number[]): BaseStatistics | undefined {
  const extreme = (value: number) => ({ value, at: values.indexOf(value) });
  const least = values.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const greatest = values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY);
  if (values.length < fewestForBase || least === greatest) return undefined;
  return {
    sum: values.reduce((sum, value) => sum + value, 0),
    mean: mean(values),
    median: median(values),
    least: extreme(least),
    greatest: extreme(greatest),
  };
}
