import { type Finding, findInPair, findInSeries, type Series } from "../insights/find-insights.ts";
import { chartRoles } from "./chart-roles.ts";
import type { ChartTable } from "./chart-table.ts";

const mostSeries = 12;

/** What the measured columns of a table tell, series by series and pair by pair. */
export function chartInsights(table: ChartTable): Finding[] {
  const { along, measures, parts } = chartRoles(table);
  const ordered = along !== undefined && table.columns[along]?.kind !== "name";
  const groups = parts === undefined ? [undefined] : [...new Set(table.rows.map((row) => row[parts]))];
  const series = groups.slice(0, mostSeries).flatMap((group) =>
    measures.map((measure): Series => {
      const rows = table.rows.filter(
        (row) => typeof row[measure] === "number" && (parts === undefined || row[parts] === group),
      );
      const name = table.columns[measure]?.name ?? "";
      return {
        name: group === undefined ? name : `${name} (${group})`,
        labels: rows.map((row, at) => (along === undefined ? `#${at + 1}` : String(row[along]))),
        values: rows.map((row) => Number(row[measure])),
        ordered,
      };
    }),
  );
  const pairs = parts === undefined ? complete(table, measures, along) : [];
  return [...series.flatMap(findInSeries), ...pairs.flatMap(([one, other]) => findInPair(one, other))];
}

/** Each pair of measures over the rows that have both. */
function complete(table: ChartTable, measures: readonly number[], along: number | undefined): [Series, Series][] {
  return measures.flatMap((first, place) =>
    measures.slice(place + 1).map((second): [Series, Series] => {
      const rows = table.rows.filter((row) => typeof row[first] === "number" && typeof row[second] === "number");
      const labels = rows.map((row, at) => (along === undefined ? `#${at + 1}` : String(row[along])));
      const of = (measure: number): Series => ({
        name: table.columns[measure]?.name ?? "",
        labels,
        values: rows.map((row) => Number(row[measure])),
        ordered: false,
      });
      return [of(first), of(second)];
    }),
  );
}
