import { mostParts, type Plot } from "./chart-roles.ts";
import type { ChartValue } from "./chart-table.ts";

/** Sorts the rows of a plot along time or another order; other plots are returned unchanged. */
export function inOrder(plot: Plot): Plot {
  const { along } = plot.roles;
  if (along === undefined || plot.columns[along]?.kind === "name") return plot;
  return { ...plot, rows: plot.rows.toSorted((one, other) => compare(one[along] ?? null, other[along] ?? null)) };
}

function compare(one: ChartValue, other: ChartValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : Number(String(one) > String(other));
}

const mostNames = 60;

/** A plot limited to what readers can distinguish, and what was left out of it. */
export type FewEnough = { readonly plot: Plot; readonly notes: readonly string[] };

/**
 * Limits a plot: of too many names, keeps the first; of too many series, those with the largest
 * sums.
 */
export function fewEnough(plot: Plot): FewEnough {
  const series = fewSeries(plot);
  const names = fewNames(series.plot);
  return { plot: names.plot, notes: [...series.notes, ...names.notes] };
}

function fewNames(plot: Plot): FewEnough {
  const { along } = plot.roles;
  if (along === undefined || plot.columns[along]?.kind !== "name") return { plot, notes: [] };
  const names = new Set(plot.rows.map((row) => row[along] ?? null));
  if (names.size <= mostNames) return { plot, notes: [] };
  const note = `Only the first ${mostNames} of ${names.size} names are drawn: sort by what matters, or sum up.`;
  return { plot: only(plot, along, [...names].slice(0, mostNames)), notes: [note] };
}

function fewSeries(plot: Plot): FewEnough {
  const { measures, parts } = plot.roles;
  const [measure] = measures;
  if (parts === undefined || measure === undefined) return { plot, notes: [] };
  const sums = new Map<ChartValue, number>();
  for (const row of plot.rows) {
    const name = row[parts] ?? null;
    sums.set(name, (sums.get(name) ?? 0) + Math.abs(Number(row[measure] ?? 0)));
  }
  if (sums.size <= mostParts) return { plot, notes: [] };
  const largest = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, mostParts);
  const kept = largest.map(([name]) => name);
  const column = plot.columns[parts]?.name;
  const note = `Only the ${mostParts} of ${sums.size} names in ${column} with the largest sums are drawn.`;
  return { plot: only(plot, parts, kept), notes: [note] };
}

function only(plot: Plot, column: number, kept: readonly ChartValue[]): Plot {
  const names = new Set(kept);
  return { ...plot, rows: plot.rows.filter((row) => names.has(row[column] ?? null)) };
}
