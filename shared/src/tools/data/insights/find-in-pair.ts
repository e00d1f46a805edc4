import { clusters } from "./clusters.ts";
import { correlation } from "./correlation.ts";
import { type Finding, labelsAt, type Series } from "./finding.ts";
import { pearson } from "./statistics.ts";

/** The findings about two series of the same places together. */
export function findInPair(one: Series, other: Series): Finding[] {
  const series = `${one.name} × ${other.name}`;
  const { linear, ranked } = correlation(one.values, other.values);
  const found: Finding[] = [];
  const add = (type: string, coefficient: number | undefined) => {
    if (coefficient === undefined) return;
    const steps = one.ordered ? pearson(changes(one.values), changes(other.values)) : undefined;
    const figures = { coefficient, ...(steps !== undefined && { steps }) };
    found.push({ type, series, at: [], figures, strength: Math.abs(coefficient) });
  };
  add("pearson_correlation", linear);
  add("spearman_correlation", ranked);
  // Along time, two levels form two clusters, which is reported as a change of level.
  const heaps = one.ordered ? undefined : clusters(one.values, other.values);
  if (heaps) {
    const centres = heaps.centres.flatMap(([x, y], index) => [
      [`x${index + 1}`, x],
      [`y${index + 1}`, y],
    ]);
    const figures = { clusters: heaps.centres.length, noise: heaps.noise.length, ...Object.fromEntries(centres) };
    const at = labelsAt(one, heaps.noise);
    found.push({ type: "dbscan_clusters", series, at, figures, strength: heaps.silhouette });
  }
  return found;
}

function changes(values: readonly number[]): number[] {
  return values.slice(1).map((value, at) => value - (values[at] ?? value));
}
