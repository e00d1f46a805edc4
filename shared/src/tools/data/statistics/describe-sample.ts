import { AppError } from "../../../core/errors.ts";
import { mean, median, quantile, robustDeviation } from "../insights/statistics.ts";
import { sampleLine } from "./compare-means.ts";
import { normalReach, tReach } from "./distributions.ts";
import { normalityLine } from "./normality.ts";
import { figure, interval, type StatisticsReport } from "./report.ts";
import { type OutlierRule, outlierRules } from "./request.ts";
import { requireEach, type Sample, sampleVariance } from "./samples.ts";

/** The interval of a share (Wilson's). */
function wilson(hits: number, n: number, confidence: number): readonly [number, number] {
  const z = normalReach(confidence);
  const share = hits / n;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const reach = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** The interval of a mean (Student's t). */
function meanInterval(values: readonly number[], confidence: number): readonly [number, number] {
  const reach = tReach(confidence, values.length - 1) * Math.sqrt(sampleVariance(values) / values.length);
  return [mean(values) - reach, mean(values) + reach];
}

/** The interval of a median, by order: it assumes nothing about the shape. */
function medianInterval(values: readonly number[], confidence: number): readonly [number, number] {
  const sorted = values.toSorted((one, other) => one - other);
  const reach = (normalReach(confidence) * Math.sqrt(values.length)) / 2;
  const low = Math.max(0, Math.floor(values.length / 2 - reach) - 1);
  const high = Math.min(values.length - 1, Math.ceil(values.length / 2 + reach));
  return [sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN];
}

/** How far the true mean, median or share of each sample may be from what is seen. */
export function confidenceIntervals(samples: readonly Sample[], confidence: number): StatisticsReport {
  requireEach(samples);
  const isShare = samples.every(({ values }) => values.every((value) => value === 0 || value === 1));
  if (isShare)
    return {
      title: "Confidence intervals of a share (Wilson)",
      lines: samples.map(({ name, values }) => {
        const hits = values.reduce((sum, value) => sum + value, 0);
        const share = hits / values.length;
        return `${name}: ${hits} of ${values.length} = ${figure(share)}, ${interval(wilson(hits, values.length, confidence), confidence)}`;
      }),
      assumptions: ["independent rows, drawn at random: not visible in the data."],
    };
  return {
    title: "Confidence intervals of mean (Student's t) and median (by order)",
    lines: samples.flatMap((sample) => [
      sampleLine(sample),
      `  mean ${interval(meanInterval(sample.values, confidence), confidence)}; median ${interval(medianInterval(sample.values, confidence), confidence)}`,
    ]),
    assumptions: [
      normalityLine(samples, "the interval of the median"),
      "independent rows, drawn at random: not visible in the data.",
    ],
  };
}

const rules: Record<
  OutlierRule,
  { readonly told: string; bounds(values: readonly number[]): readonly [number, number] }
> = {
  iqr: {
    told: "Tukey's rule: beyond the quartiles by 1.5 times their distance",
    bounds(values) {
      const [low, high] = [quantile(values, 0.25), quantile(values, 0.75)];
      return [low - 1.5 * (high - low), high + 1.5 * (high - low)];
    },
  },
  mad: {
    told: "robust rule: more than 3.5 robust deviations (from the median, by the median distance) away",
    bounds(values) {
      const reach = 3.5 * robustDeviation(values);
      return [median(values) - reach, median(values) + reach];
    },
  },
  zscore: {
    told: "z score: more than 3 standard deviations from the mean",
    bounds(values) {
      const reach = 3 * Math.sqrt(sampleVariance(values));
      return [mean(values) - reach, mean(values) + reach];
    },
  },
};

const maxShown = 20;

/** Which values are out of the ordinary by a rule; `labels` say which rows they are in. */
export function outliers(sample: Sample, rule: OutlierRule, labels: readonly string[]): StatisticsReport {
  const { told, bounds } = rules[rule];
  requireEach([sample]);
  const [low, high] = bounds(sample.values);
  if (!(high > low))
    throw new AppError(
      "invalid_input",
      `Half of the values of ${sample.name} are equal, so ${rule} has no width; use another rule.`,
    );
  const found = sample.values.flatMap((value, at) =>
    value < low || value > high ? [{ value, label: labels[at] }] : [],
  );
  const shown = found
    .toSorted(
      (one, other) => Math.max(low - other.value, other.value - high) - Math.max(low - one.value, one.value - high),
    )
    .slice(0, maxShown);
  const counts = rulesFound(sample.values);
  return {
    title: `Outliers of ${sample.name} by ${told}`,
    lines: [
      sampleLine(sample),
      `usual: ${figure(low)} to ${figure(high)}; outside: ${found.length} of ${sample.values.length}`,
      ...shown.map(({ value, label }) => `  ${figure(value)}${label === undefined ? "" : ` (${label})`}`),
      ...(found.length > shown.length ? [`  … ${found.length - shown.length} more, nearer to the usual`] : []),
      `by the other rules: ${counts
        .filter(([name]) => name !== rule)
        .map(([name, count]) => `${name} ${count}`)
        .join(", ")}`,
    ],
    assumptions: [
      rule === "zscore"
        ? `${normalityLine([sample], "mad")} Outliers widen the very bounds they are judged by.`
        : "one hump, no trend: look at a histogram; of a series over time, take the trend out first.",
      "an outlier is not an error: look where it comes from before leaving it out.",
    ],
  };
}

function rulesFound(values: readonly number[]): [OutlierRule, number][] {
  return outlierRules.map((name) => {
    const [low, high] = rules[name].bounds(values);
    return [name, values.filter((value) => value < low || value > high).length];
  });
}
