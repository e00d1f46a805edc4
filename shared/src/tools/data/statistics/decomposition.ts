import { AppError } from "../../../core/errors.ts";
import { mean, median, robustDeviation } from "../insights/statistics.ts";
import { figure, type StatisticsReport } from "./report.ts";
import { type Sample, sampleVariance } from "./samples.ts";

/** How trend, season and rest make up a value: as a sum, or as a product. */
export type DecompositionModel = "additive" | "multiplicative";

/**
 * A series in its parts; where the trend's window reaches beyond an end, trend and rest are NaN.
 */
export type Parts = {
  readonly trend: readonly number[];
  /** One value a place of the period, from the first row on. */
  readonly season: readonly number[];
  readonly rest: readonly number[];
};

/**
 * The classical decomposition: a centred moving average, then the mean of each place of the period.
 */
function decompose(values: readonly number[], period: number, model: DecompositionModel): Parts {
  const isSum = model === "additive";
  const half = Math.floor(period / 2);
  const weightAt = (step: number) => (period % 2 === 0 && Math.abs(step) === half ? 0.5 : 1) / period;
  const trend = values.map((_, at) => {
    if (at < half || at + half >= values.length) return Number.NaN;
    let sum = 0;
    for (let step = -half; step <= half; step++) sum += (values[at + step] ?? 0) * weightAt(step);
    return sum;
  });
  const without = values.map((value, at) => (isSum ? value - (trend[at] ?? 0) : value / (trend[at] ?? 0)));
  const raw = Array.from({ length: period }, (_, place) =>
    mean(without.filter((value, at) => at % period === place && Number.isFinite(value))),
  );
  const middle = mean(raw);
  const season = raw.map((value) => (isSum ? value - middle : value / middle));
  const rest = without.map((value, at) =>
    isSum ? value - (season[at % period] ?? 0) : value / (season[at % period] ?? 1),
  );
  return { trend, season, rest };
}

const maxPlaces = 24;
const maxOdd = 10;

/** A series in its parts, in words; `times` names each value. */
export function decomposition(
  sample: Sample,
  times: readonly string[],
  { period, model }: { readonly period: number; readonly model: DecompositionModel },
): StatisticsReport & { readonly parts: Parts } {
  const { values, name } = sample;
  if (values.length < 2 * period)
    throw new AppError(
      "invalid_input",
      `${values.length} values hold fewer than two periods of ${period}; name a shorter one.`,
    );
  if (model === "multiplicative" && values.some((value) => value <= 0))
    throw new AppError("invalid_input", `${name} holds values of 0 and below; use the additive model.`);
  const parts = decompose(values, period, model);
  const known = [...values.keys()].filter((at) => Number.isFinite(parts.rest[at]));
  const log = model === "multiplicative" ? Math.log : (value: number) => value;
  const [rest, withSeason, withTrend] = [
    known.map((at) => log(parts.rest[at] ?? 0)),
    known.map((at) => log(parts.rest[at] ?? 0) + log(parts.season[at % period] ?? 0)),
    known.map((at) => log(parts.rest[at] ?? 0) + log(parts.trend[at] ?? 0)),
  ];
  const strength = (whole: readonly number[]) => Math.max(0, 1 - sampleVariance(rest) / sampleVariance(whole));
  const [first = 0, last = 0] = [known[0], known.at(-1)];
  const usual = 3.5 * robustDeviation(rest);
  const middle = median(rest);
  // The farthest first: one such value draws the season's others of its place away too.
  const odd = known
    .map((at, index) => ({ at, distance: Math.abs((rest[index] ?? 0) - middle) }))
    .filter(({ distance }) => distance > usual && usual > 0)
    .toSorted((one, other) => other.distance - one.distance);
  const peak = (pick: (...all: number[]) => number) => parts.season.indexOf(pick(...parts.season));
  return {
    parts,
    title: `Decomposition of ${name} (${model}, period ${period}), n = ${values.length}`,
    lines: [
      `trend: ${figure(parts.trend[first] ?? 0)} at ${times[first]} to ${figure(parts.trend[last] ?? 0)} at ${times[last]}; strength ${figure(strength(withTrend))} of 1`,
      `season: highest ${figure(Math.max(...parts.season))} at place ${peak(Math.max) + 1} of the period (as ${times[peak(Math.max)]}), lowest ${figure(Math.min(...parts.season))} at place ${peak(Math.min) + 1} (as ${times[peak(Math.min)]}); strength ${figure(strength(withSeason))} of 1`,
      ...(period <= maxPlaces ? [`season by place: ${parts.season.map(figure).join(", ")}`] : []),
      odd.length === 0
        ? "rest: no value out of the ordinary"
        : `rest out of the ordinary (3.5 robust deviations): ${odd
            .slice(0, maxOdd)
            .map(({ at }) => `${times[at]} (${figure(values[at] ?? 0)})`)
            .join(", ")}${odd.length > maxOdd ? ` and ${odd.length - maxOdd} nearer to the usual` : ""}`,
    ],
    assumptions: [
      "evenly spaced rows, none missing: the order is that of the time column; gaps are told above if found.",
      "the same season in every period: look at the rest; if its swings grow with the level, use multiplicative.",
      `${Math.floor(period / 2)} values at each end have no trend.`,
    ],
  };
}
