import type { ChartTable } from "./chart-table.ts";

/** Which columns a chart is about, by their places: along what, what is measured, and what parts it into series. */
export type ChartRoles = {
  readonly along: number | undefined;
  readonly measures: readonly number[];
  readonly parts: number | undefined;
};

const mostMeasures = 5;
/** There are as many colours that can be told apart. */
export const mostParts = 10;

/** The roles that the kinds of the columns suggest. */
export function chartRoles({ columns, rows }: ChartTable): ChartRoles {
  const of = (kind: string) => [...columns.keys()].filter((index) => columns[index]?.kind === kind);
  const names = of("name");
  const along = of("time")[0] ?? of("order")[0] ?? names[0];
  const measures = of("number").slice(0, mostMeasures);
  const parts = names.find(
    (index) => index !== along && new Set(rows.map((row) => row[index])).size <= mostParts && measures.length === 1,
  );
  // A table of counts only (year, visitors of the day) has no other number to measure.
  const rest = measures.length === 0 ? of("order").filter((index) => index !== along) : measures;
  return { along, measures: rest, parts };
}
