import { chartRoles, mostParts } from "./chart-roles.ts";
import type { ChartTable, ChartValue } from "./chart-table.ts";

const mostNames = 60;

/** A table of which no more is drawn than can be told apart, and a note where that leaves something out. */
export type FewEnough = { readonly table: ChartTable; readonly note: string | undefined };

/** Bars for no more names than can be told apart: the first that come. */
export function fewNames(table: ChartTable): FewEnough {
  const { along, measures } = chartRoles(table);
  if (along === undefined || measures.length === 0 || table.columns[along]?.kind !== "name")
    return { table, note: undefined };
  const names = new Set(table.rows.map((row) => row[along] ?? null));
  if (names.size <= mostNames) return { table, note: undefined };
  const note = `Only the first ${mostNames} of ${names.size} names are drawn: sort by what matters, or sum up.`;
  return { table: only(table, along, [...names].slice(0, mostNames)), note };
}

/** Along time no more lines than can be told apart: those of the names with the largest sums. */
export function fewLines(table: ChartTable): FewEnough {
  const { along, measures, parts } = chartRoles(table);
  const [measure] = measures;
  const names = table.columns.findIndex(({ kind }) => kind === "name");
  if (along === undefined || measure === undefined || parts !== undefined || names < 0 || measures.length > 1)
    return { table, note: undefined };
  const sums = new Map<ChartValue, number>();
  for (const row of table.rows) {
    const name = row[names] ?? null;
    sums.set(name, (sums.get(name) ?? 0) + Math.abs(Number(row[measure] ?? 0)));
  }
  if (table.columns[along]?.kind === "name" || !hasRepeats(table, along) || sums.size <= mostParts)
    return { table, note: undefined };
  const largest = [...sums].toSorted(([, one], [, other]) => other - one).slice(0, mostParts);
  const note = `Only the ${mostParts} of ${sums.size} names in ${table.columns[names]?.name} with the largest sums are drawn.`;
  return {
    table: only(
      table,
      names,
      largest.map(([name]) => name),
    ),
    note,
  };
}

/** A note where several rows share a place along an order and nothing parts them. */
export function sharedPlaces(table: ChartTable): string | undefined {
  const { along, measures, parts } = chartRoles(table);
  if (along === undefined || measures.length === 0 || parts !== undefined) return undefined;
  const column = table.columns[along];
  if (column === undefined || column.kind === "name" || !hasRepeats(table, along)) return undefined;
  return `Several rows share their ${column.name}: sum them up first, unless that is meant.`;
}

function hasRepeats(table: ChartTable, along: number): boolean {
  return new Set(table.rows.map((row) => row[along])).size < table.rows.length;
}

function only(table: ChartTable, column: number, kept: readonly ChartValue[]): ChartTable {
  const names = new Set(kept);
  return { ...table, rows: table.rows.filter((row) => names.has(row[column] ?? null)) };
}
