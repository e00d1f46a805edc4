import type { Plot } from "./chart-roles.ts";
import type { ChartValue } from "./chart-table.ts";

/** A plot along time or another order with its rows in that order; others as they are. */
export function inOrder(plot: Plot): Plot {
  const { along } = plot.roles;
  if (along === undefined || plot.columns[along]?.kind === "name") return plot;
  return { ...plot, rows: plot.rows.toSorted((one, other) => compare(one[along] ?? null, other[along] ?? null)) };
}

function compare(one: ChartValue, other: ChartValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : Number(String(one) > String(other));
}
