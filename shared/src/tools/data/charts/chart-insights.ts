import { findInPair } from "../insights/find-in-pair.ts";
import { findInSeries } from "../insights/find-in-series.ts";
import type { Finding, Series } from "../insights/finding.ts";
import { addsUp } from "../insights/finding.ts";
import type { Plot } from "./chart-roles.ts";
import type { ChartValue } from "./chart-table.ts";

const maxSeries = 12;
const maxFindings = 3;
/** With more series, the usual figures would crowd out the findings. */
const maxBases = 2;

/** The clearest findings of a chart, best first, and how many more there are. */
export type ChartFindings = { readonly found: readonly Finding[]; readonly left: number };

/**
 * The three clearest findings in the measured columns of a plot (`inOrder`), series by series and
 * pair by pair.
 */
export function chartInsights(table: Plot): ChartFindings {
  const { along, measures, parts } = table.roles;
  const { rows } = table;
  const groups = parts === undefined ? [undefined] : [...new Set(rows.map((row) => row[parts]))];
  const seriesOf = (measure: number, chosen: typeof rows, group?: ChartValue): Series => {
    const name = table.columns[measure]?.name ?? "";
    const labels = chosen.map((row, at) => (along === undefined ? `#${at + 1}` : String(row[along])));
    const isOrder = along !== undefined && table.columns[along]?.kind !== "name";
    return {
      name: group === undefined ? name : seriesName(name, group),
      labels,
      values: chosen.map((row) => Number(row[measure])),
      // Several values of the same day have no order.
      ordered: isOrder && new Set(labels).size === labels.length,
      adds: addsUp(name),
    };
  };
  const having = (...wanted: readonly number[]) =>
    rows.filter((row) => wanted.every((measure) => typeof row[measure] === "number"));
  const series = groups.slice(0, maxSeries).flatMap((group) =>
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
  const single = series.flatMap(findInSeries).filter((finding) => survivesLooks(finding, series.length));
  const all = [...single, ...pairs.flatMap(([one, other]) => findInPair(one, other))];
  const found = all.toSorted((one, other) => other.strength - one.strength).slice(0, maxFindings);
  return { found, left: all.length - found.length };
}

/**
 * Whether a finding is significant among so many series: the more series, the more findings are due
 * to chance.
 */
function survivesLooks({ type, figures, strength }: Finding, looks: number): boolean {
  if (type === "statistics_base") return looks <= maxBases;
  if (looks < 2) return true;
  if (figures.p !== undefined) return figures.p * looks < 0.05;
  return !/abnormal/.test(type) || strength >= Math.min(0.8, 0.6 + 0.02 * looks);
}

/** The name in findings of the series for one part of a measure. */
export function seriesName(measure: string, part: ChartValue): string {
  return `${measure} (${part})`;
}
