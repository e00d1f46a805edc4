import { addsUp } from "../insights/adds-up.ts";
import { findInPair } from "../insights/find-in-pair.ts";
import { findInSeries } from "../insights/find-in-series.ts";
import type { Finding, Series } from "../insights/finding.ts";
import { chartRoles } from "./chart-roles.ts";
import type { ChartTable, ChartValue } from "./chart-table.ts";

const mostSeries = 12;
const mostFindings = 6;

/** The clearest findings of a chart, best first, and how many more there are. */
export type ChartFindings = { readonly found: readonly Finding[]; readonly left: number };

/** What the measured columns of a table (`inOrder`) tell, series by series and pair by pair: the clearest six. */
export function chartInsights(table: ChartTable): ChartFindings {
  const { along, measures, parts } = chartRoles(table);
  const ordered = along !== undefined && table.columns[along]?.kind !== "name";
  const { rows } = table;
  const groups = parts === undefined ? [undefined] : [...new Set(rows.map((row) => row[parts]))];
  const seriesOf = (measure: number, chosen: typeof rows, group?: ChartValue): Series => {
    const name = table.columns[measure]?.name ?? "";
    return {
      name: group === undefined ? name : seriesName(name, group),
      labels: chosen.map((row, at) => (along === undefined ? `#${at + 1}` : String(row[along]))),
      values: chosen.map((row) => Number(row[measure])),
      ordered,
      adds: addsUp(name),
    };
  };
  const having = (...wanted: readonly number[]) =>
    rows.filter((row) => wanted.every((measure) => typeof row[measure] === "number"));
  const series = groups.slice(0, mostSeries).flatMap((group) =>
    measures.map((measure) => {
      const measured = having(measure);
      return group === undefined || parts === undefined
        ? seriesOf(measure, measured)
        : seriesOf(
            measure,
            measured.filter((row) => row[parts] === group),
            group,
          );
    }),
  );
  const pairs = (parts === undefined ? measures : []).flatMap((first, place) =>
    measures.slice(place + 1).map((second) => {
      const both = having(first, second);
      return [seriesOf(first, both), seriesOf(second, both)] as const;
    }),
  );
  const all = [...series.flatMap(findInSeries), ...pairs.flatMap(([one, other]) => findInPair(one, other))];
  const found = all.toSorted((one, other) => other.strength - one.strength).slice(0, mostFindings);
  return { found, left: all.length - found.length };
}

/** What the series of one part of a measure is called in findings. */
export function seriesName(measure: string, part: ChartValue): string {
  return `${measure} (${part})`;
}
