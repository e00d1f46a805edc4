import type { ChartFile } from "./chart-file.ts";
import type { ChartSpec } from "./chart-spec.ts";
import { records } from "./chart-table.ts";
import { finishedSpec } from "./finished-spec.ts";
import { withMarks } from "./marks/insight-marks.ts";

/** A stored chart as Vega-Lite draws it: with its data, its title and the findings it shows. */
export function shownSpec(chart: ChartFile): ChartSpec {
  const shown = chart.insights.filter((_, index) => chart.shown.includes(index + 1));
  return finishedSpec(
    chart.roles === undefined ? chart.spec : withMarks({ ...chart, roles: chart.roles }, shown),
    records(chart),
    { ...chart, subtitle: shown.map(({ text }) => text) },
  );
}
