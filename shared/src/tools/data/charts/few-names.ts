import { chartRoles } from "./chart-roles.ts";
import type { ChartTable } from "./chart-table.ts";

const most = 60;

/** A table with no more names than bars can be told apart, the first that come, and a note where that leaves some out. */
export function fewNames(table: ChartTable): { readonly table: ChartTable; readonly note: string | undefined } {
  const { along, measures } = chartRoles(table);
  if (along === undefined || measures.length === 0 || table.columns[along]?.kind !== "name")
    return { table, note: undefined };
  const names = new Set(table.rows.map((row) => row[along]));
  if (names.size <= most) return { table, note: undefined };
  const kept = new Set([...names].slice(0, most));
  const note = `Only the first ${most} of ${names.size} names are drawn: sort by what matters, or sum up.`;
  return { table: { ...table, rows: table.rows.filter((row) => kept.has(row[along] ?? null)) }, note };
}
