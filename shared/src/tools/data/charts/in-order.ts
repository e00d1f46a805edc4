import { chartRoles } from "./chart-roles.ts";
import type { ChartTable, ChartValue } from "./chart-table.ts";

/** A table along time or another order with its rows in that order; others as they are. */
export function inOrder(table: ChartTable): ChartTable {
  const { along } = chartRoles(table);
  if (along === undefined || table.columns[along]?.kind === "name") return table;
  return { ...table, rows: table.rows.toSorted((one, other) => compare(one[along] ?? null, other[along] ?? null)) };
}

function compare(one: ChartValue, other: ChartValue): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : Number(String(one) > String(other));
}
