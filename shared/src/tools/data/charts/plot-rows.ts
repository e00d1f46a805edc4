import { type ChartKind, maxParts, type Plot } from "./chart-roles.ts";
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

const maxNames = 60;
const maxSizes = 100;

/** A plot limited to what readers can distinguish, and what was left out of it. */
export type FewEnough = { readonly plot: Plot; readonly notes: readonly string[] };

/**
 * Limits a plot: of too many names, keeps the first; of too many series, those with the largest
 * sums. A heat map and a sankey have no colour for each series, so they may have as many as names.
 * A treemap and a word cloud keep the largest names, and a map all.
 */
export function fewEnough(plot: Plot, kind: ChartKind): FewEnough {
  if (kind === "map") return { plot, notes: [] };
  const series = fewSeries(plot, kind === "heatmap" || kind === "sankey" ? maxNames : maxParts);
  if (kind === "treemap" || kind === "wordcloud") {
    const largest = fewSizes(series.plot);
    return { plot: largest.plot, notes: [...series.notes, ...largest.notes] };
  }
  const names = fewNames(series.plot);
  return { plot: names.plot, notes: [...series.notes, ...names.notes] };
}

function fewSizes(plot: Plot): FewEnough {
  const [measure = 0] = plot.roles.measures;
  const size = (row: readonly ChartValue[]) => Number(row[measure] ?? 0);
  const rows = plot.rows.filter((row) => size(row) !== 0).toSorted((one, other) => size(other) - size(one));
  if (rows.length <= maxSizes) return { plot: { ...plot, rows }, notes: [] };
  const note = `Only the ${maxSizes} largest of ${rows.length} are drawn.`;
  // Those below zero stay, so that they are refused and not left out.
  const kept = [...rows.slice(0, maxSizes), ...rows.slice(maxSizes).filter((row) => size(row) < 0)];
  return { plot: { ...plot, rows: kept }, notes: [note] };
}

function fewNames(plot: Plot): FewEnough {
  const { along } = plot.roles;
  if (along === undefined || plot.columns[along]?.kind !== "name") return { plot, notes: [] };
  const names = new Set(plot.rows.map((row) => row[along] ?? null));
  if (names.size <= maxNames) return { plot, notes: [] };
  const note = `Only the first ${maxNames} of ${names.size} names are drawn: sort by what matters, or sum up.`;
  return { plot: only(plot, along, [...names].slice(0, maxNames)), notes: [note] };
}

function fewSeries(plot: Plot, most: number): FewEnough {
  const { measures, parts } = plot.roles;
  const [measure] = measures;
  if (parts === undefined || measure === undefined) return { plot, notes: [] };
  const sums = new Map<ChartValue, number>();
  for (const row of plot.rows) {
    const name = row[parts] ?? null;
    sums.set(name, (sums.get(name) ?? 0) + Math.abs(Number(row[measure] ?? 0)));
  }
  if (sums.size <= most) return { plot, notes: [] };
  const largest = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, most);
  const kept = largest.map(([name]) => name);
  const column = plot.columns[parts]?.name;
  const note = `Only the ${most} of ${sums.size} names in ${column} with the largest sums are drawn.`;
  return { plot: only(plot, parts, kept), notes: [note] };
}

function only(plot: Plot, column: number, kept: readonly ChartValue[]): Plot {
  const names = new Set(kept);
  return { ...plot, rows: plot.rows.filter((row) => names.has(row[column] ?? null)) };
}
