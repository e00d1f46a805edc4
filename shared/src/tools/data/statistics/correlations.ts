import { AppError } from "../../../core/errors.ts";
import { pearson, ranks } from "../insights/statistics.ts";
import { holm, normalReach, tTwoSided } from "./distributions.ts";
import { chance, figure, interval, type StatisticsReport } from "./report.ts";
import type { Sample } from "./samples.ts";

/** Which relation a coefficient measures: a straight line, or any that only rises or only falls. */
export type CorrelationMethod = "pearson" | "spearman";

/** A coefficient with its p value and confidence interval (Fisher's transformation). */
function tested(r: number, n: number, confidence: number) {
  const t = r * Math.sqrt((n - 2) / Math.max(1 - r * r, Number.EPSILON));
  const reach = normalReach(confidence) / Math.sqrt(n - 3);
  const bounded = Math.atanh(Math.max(-1 + 1e-12, Math.min(1 - 1e-12, r)));
  const range: readonly [number, number] = [Math.tanh(bounded - reach), Math.tanh(bounded + reach)];
  return { p: tTwoSided(t, n - 2), range };
}

type Pair = { readonly one: string; readonly other: string; readonly r: number; readonly twin: number };

/** The correlation of each pair of columns. Throws `invalid_input` for fewer than four rows. */
export function correlations(
  samples: readonly Sample[],
  method: CorrelationMethod,
  confidence: number,
): StatisticsReport {
  const n = samples[0]?.values.length ?? 0;
  if (n < 4) throw new AppError("invalid_input", `${n} rows are complete; at least 4 are needed.`);
  const ranked = samples.map(({ values }) => ranks(values));
  const flat: string[] = [];
  const pairs = samples.flatMap((one, at) =>
    samples.slice(at + 1).flatMap((other, after): Pair[] => {
      const linear = pearson(one.values, other.values);
      const inRanks = pearson(ranked[at] ?? [], ranked[at + 1 + after] ?? []);
      if (linear === undefined || inRanks === undefined) {
        flat.push(`${one.name} and ${other.name}: one of them does not vary`);
        return [];
      }
      const [r, twin] = method === "pearson" ? [linear, inRanks] : [inRanks, linear];
      return [{ one: one.name, other: other.name, r, twin }];
    }),
  );
  const results = pairs.map(({ r }) => tested(r, n, confidence));
  const adjusted = holm(results.map(({ p }) => p));
  const several = pairs.length > 1;
  const curved = pairs.filter(({ r, twin }) => Math.abs(Math.abs(r) - Math.abs(twin)) >= 0.1 || r * twin < 0);
  const names = curved.map(({ one, other, twin }) => `${one} and ${other} (${figure(twin)})`).join(", ");
  const isPearson = method === "pearson";
  return {
    title: `${isPearson ? "Pearson" : "Spearman rank"} correlation, n = ${n}`,
    lines: [
      ...pairs.map(({ one, other, r }, at) => {
        const result = results[at];
        const told = `${one} and ${other}: r = ${figure(r)}, ${interval(result?.range ?? [r, r], confidence)}, ${chance(result?.p ?? Number.NaN)}`;
        return several ? `${told}, adjusted ${chance(adjusted[at] ?? Number.NaN)}` : told;
      }),
      ...flat,
      ...(several ? [`Go by the adjusted p (Holm): ${pairs.length} pairs were tested.`] : []),
    ],
    assumptions: [
      curved.length === 0
        ? "a straight line without strong outliers: ranks and values agree."
        : `a straight line without strong outliers: does not hold; ${isPearson ? "ranks" : "values"} say otherwise for ${names}: draw a scatter chart${isPearson ? ", prefer spearman" : ""}.`,
      "independent rows: not visible in the data; two series over time correlate by their trends alone: correlate their changes.",
      "a correlation is not a cause.",
    ],
  };
}
