import { chanceOfCorrelation, pearson, spearman } from "./statistics.ts";

/** Two correlations of the same pairs of values, each only when it is worth reporting. */
export type Correlation = { readonly linear: number | undefined; readonly ranked: number | undefined };

const fewest = 8;
const strong = 0.5;
const lasting = 0.4;
const significant = 0.01;
/** How much stronger the rank correlation must be for the relation to count as curved. */
const clearlyMore = 0.1;

/**
 * Which correlations hold: at least 0.5, unlikely by chance, and the linear one neither caused by a
 * single pair nor contradicting the ranks. The rank correlation is given only when the linear one
 * is clearly weaker.
 */
export function correlation(xs: readonly number[], ys: readonly number[]): Correlation {
  const [linear, ranked] = [pearson(xs, ys) ?? 0, spearman(xs, ys) ?? 0];
  const holds = (coefficient: number) =>
    xs.length >= fewest && Math.abs(coefficient) >= strong && chanceOfCorrelation(coefficient, xs.length) < significant;
  const rest = withoutHeaviest(xs, ys);
  const isLinear = holds(linear) && linear * ranked > 0 && Math.abs(rest) >= lasting && rest * linear > 0;
  const isCurved = holds(ranked) && (!isLinear || Math.abs(ranked) - Math.abs(linear) >= clearlyMore);
  return { linear: isLinear ? linear : undefined, ranked: isCurved ? ranked : undefined };
}

/** The linear correlation without the pair that has the most influence on it. */
function withoutHeaviest(xs: readonly number[], ys: readonly number[]): number {
  const middle = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [middle(xs), middle(ys)];
  const weights = xs.map((x, at) => Math.abs((x - middleX) * ((ys[at] ?? middleY) - middleY)));
  const heaviest = weights.indexOf(weights.reduce((one, other) => Math.max(one, other), 0));
  const rest = (values: readonly number[]) => values.filter((_, at) => at !== heaviest);
  return pearson(rest(xs), rest(ys)) ?? 0;
}
