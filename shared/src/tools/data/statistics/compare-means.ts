import { AppError } from "../../../core/errors.ts";
import { mean, median } from "../insights/statistics.ts";
import { fUpper, holm, tReach, tTwoSided } from "./distributions.ts";
import { normalityLine } from "./normality.ts";
import { chance, figure, interval, type StatisticsReport } from "./report.ts";
import { requireEach, type Sample, sampleVariance } from "./samples.ts";

const independent =
  "independent rows: not visible in the data; it does not hold if rows belong together (the same person, neighbouring days).";

/** One line about a sample. */
export function sampleLine({ name, values }: Sample): string {
  const spread = Math.sqrt(sampleVariance(values));
  return `${name}: n = ${values.length}, mean ${figure(mean(values))}, median ${figure(median(values))}, standard deviation ${figure(spread)}`;
}

/** Welch's t test: whether two samples have the same mean; their spread may differ. */
function welch(one: readonly number[], other: readonly number[], confidence: number) {
  const [a, b] = [sampleVariance(one) / one.length, sampleVariance(other) / other.length];
  const difference = mean(one) - mean(other);
  const error = Math.sqrt(a + b);
  const degrees = (a + b) ** 2 / (a ** 2 / (one.length - 1) + b ** 2 / (other.length - 1));
  const t = difference / error;
  const reach = tReach(confidence, degrees) * error;
  const range: readonly [number, number] = [difference - reach, difference + reach];
  return { t, degrees, p: tTwoSided(t, degrees), difference, range };
}

/** Whether two samples have the same mean. */
export function tTest(one: Sample, other: Sample, confidence: number): StatisticsReport {
  requireSpread([one, other]);
  const { t, degrees, p, difference, range } = welch(one.values, other.values, confidence);
  const g = hedgesG(one.values, other.values);
  return {
    title: `Welch's t test: do ${one.name} and ${other.name} have the same mean?`,
    lines: [
      sampleLine(one),
      sampleLine(other),
      `difference of the means (${one.name} − ${other.name}): ${figure(difference)}, ${interval(range, confidence)}`,
      `t = ${figure(t)}, df = ${figure(degrees)}, ${chance(p)}`,
      `effect: Hedges' g = ${figure(g)} (${sizeOf(Math.abs(g), [0.2, 0.5, 0.8])})`,
    ],
    assumptions: [
      normalityLine([one, other], "mann_whitney"),
      "equal spread: not needed by this form of the test.",
      independent,
    ],
  };
}

/** Whether a sample's mean is a certain value, or, of pairs, whether their difference is. */
export function oneSampleTest(sample: Sample, against: number, confidence: number, pairs = false): StatisticsReport {
  requireSpread([sample]);
  const { values } = sample;
  const error = Math.sqrt(sampleVariance(values) / values.length);
  const degrees = values.length - 1;
  const difference = mean(values) - against;
  const t = difference / error;
  const reach = tReach(confidence, degrees) * error;
  const middle = mean(values);
  const size = difference / Math.sqrt(sampleVariance(values));
  return {
    title: pairs
      ? `Paired t test: is the mean of ${sample.name} ${figure(against)}?`
      : `One-sample t test: is the mean of ${sample.name} ${figure(against)}?`,
    lines: [
      `${sampleLine(sample)}, ${interval([middle - reach, middle + reach], confidence)}`,
      `t = ${figure(t)}, df = ${degrees}, ${chance(tTwoSided(t, degrees))}`,
      `effect: Cohen's d = ${figure(size)} (${sizeOf(Math.abs(size), [0.2, 0.5, 0.8])})`,
    ],
    assumptions: [normalityLine([sample], pairs ? "wilcoxon" : "a confidence_interval of the median"), independent],
  };
}

/** The analysis of variance of several samples. */
function varianceAnalysis(samples: readonly Sample[]) {
  const all = samples.flatMap(({ values }) => values);
  const middle = mean(all);
  const between = samples.reduce((sum, { values }) => sum + values.length * (mean(values) - middle) ** 2, 0);
  const within = samples.reduce((sum, { values }) => sum + sampleVariance(values) * (values.length - 1), 0);
  const [above, below] = [samples.length - 1, all.length - samples.length];
  const f = between / above / (within / below);
  const omega = (between - above * (within / below)) / (between + within + within / below);
  return { f, above, below, p: fUpper(f, above, below), eta: between / (between + within), omega: Math.max(0, omega) };
}

/** Welch's analysis of variance, for samples of different spread. */
function welchVarianceAnalysis(samples: readonly Sample[]) {
  const parts = samples.map(({ values }) => ({
    n: values.length,
    middle: mean(values),
    weight: values.length / sampleVariance(values),
  }));
  const weights = parts.reduce((sum, { weight }) => sum + weight, 0);
  const middle = parts.reduce((sum, part) => sum + part.weight * part.middle, 0) / weights;
  const above = parts.length - 1;
  const spread = parts.reduce((sum, part) => sum + part.weight * (part.middle - middle) ** 2, 0) / above;
  const lack = parts.reduce((sum, { n, weight }) => sum + (1 - weight / weights) ** 2 / (n - 1), 0);
  const squared = parts.length ** 2 - 1;
  const f = spread / (1 + ((2 * (parts.length - 2)) / squared) * lack);
  const below = squared / (3 * lack);
  return { f, above, below, p: fUpper(f, above, below) };
}

/** Whether samples have the same spread (Brown and Forsythe's test, on distances to the median). */
function equalSpread(samples: readonly Sample[]): number {
  const distances = samples.map(({ name, values }) => {
    const middle = median(values);
    return { name, values: values.map((value) => Math.abs(value - middle)) };
  });
  return varianceAnalysis(distances).p;
}

const maxCompared = 8;

/** Whether several samples have the same mean, and which differ. */
export function anova(samples: readonly Sample[], confidence: number): StatisticsReport {
  requireSpread(samples);
  const { f, above, below, p, eta, omega } = varianceAnalysis(samples);
  const welchs = welchVarianceAnalysis(samples);
  const spread = equalSpread(samples);
  return {
    title: `One-way analysis of variance: do the ${samples.length} groups have the same mean?`,
    lines: [
      ...samples.map(sampleLine),
      `F(${above}, ${below}) = ${figure(f)}, ${chance(p)}`,
      `Welch's F(${above}, ${figure(welchs.below)}) = ${figure(welchs.f)}, ${chance(welchs.p)}`,
      `effect: eta² = ${figure(eta)}, omega² = ${figure(omega)} (${sizeOf(omega, [0.01, 0.06, 0.14])})`,
      ...pairLines(samples, (one, other) => {
        const { difference, p: own, range } = welch(one.values, other.values, confidence);
        return { text: `difference ${figure(difference)}, ${interval(range, confidence)}`, p: own };
      }),
    ],
    assumptions: [
      spread >= 0.05
        ? `equal spread: holds (Brown-Forsythe ${chance(spread)}).`
        : `equal spread: does not hold (Brown-Forsythe ${chance(spread)}): go by Welch's F.`,
      normalityLine(samples, "kruskal_wallis"),
      independent,
    ],
  };
}

/** A comparison of each pair of samples, with p values adjusted for their number. */
export function pairLines(
  samples: readonly Sample[],
  compare: (one: Sample, other: Sample) => { readonly text: string; readonly p: number },
): string[] {
  if (samples.length > maxCompared)
    return [`pairs: not compared, since there are more than ${maxCompared} groups; choose some in a SELECT.`];
  const pairs = samples.flatMap((one, at) =>
    samples.slice(at + 1).map((other) => ({ one, other, ...compare(one, other) })),
  );
  const adjusted = holm(pairs.map(({ p }) => p));
  return [
    "pairs, p adjusted for their number (Holm):",
    ...pairs.map(
      ({ one, other, text }, at) => `  ${one.name} − ${other.name}: ${text}, ${chance(adjusted[at] ?? Number.NaN)}`,
    ),
  ];
}

/** A word for an effect by the customary bounds of small, medium and large. */
export function sizeOf(effect: number, [small, medium, large]: readonly [number, number, number]): string {
  if (effect < small) return "negligible";
  return effect < medium ? "small" : effect < large ? "medium" : "large";
}

function hedgesG(one: readonly number[], other: readonly number[]): number {
  const degrees = one.length + other.length - 2;
  const pooled = ((one.length - 1) * sampleVariance(one) + (other.length - 1) * sampleVariance(other)) / degrees;
  return ((mean(one) - mean(other)) / Math.sqrt(pooled)) * (1 - 3 / (4 * degrees - 1));
}

function requireSpread(samples: readonly Sample[]): void {
  requireEach(samples);
  const flat = samples.find(({ values }) => !(sampleVariance(values) > 0));
  if (flat === undefined) return;
  throw new AppError(
    "invalid_input",
    `All ${flat.values.length} values of ${flat.name} are equal; there is nothing to test.`,
  );
}
