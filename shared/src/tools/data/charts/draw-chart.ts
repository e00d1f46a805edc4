import { saveFile } from "../../../workspace/save-file.ts";
import type { ToolContext } from "../../tool.ts";
import { type ChartFile, saveChart } from "./chart-file.ts";
import { records } from "./chart-table.ts";
import { cjkFontWarning } from "./cjk-font.ts";
import { finishedSpec } from "./finished-spec.ts";
import { chartPage } from "./html-page.ts";
import { withMarks } from "./insight-marks.ts";
import { renderChart } from "./render-chart.ts";

/** The kinds of picture. */
export type OutputType = "png" | "svg" | "html";

/** Draws a chart with the findings it shows, as marks and below the title, keeps it with its data, and answers the picture's path and what is to be known of it. */
export async function drawChart(
  { workspace, signal }: Pick<ToolContext, "workspace" | "signal">,
  base: string,
  chart: ChartFile,
  output: OutputType,
): Promise<{ readonly path: string; readonly warning: string | undefined }> {
  const shown = chart.insights.filter((_, index) => chart.shown.includes(index + 1));
  const subtitle = shown.map(({ text }) => text);
  const spec = finishedSpec(withMarks(chart, shown), records(chart), { ...chart, subtitle });
  const { svg, png } = await renderChart(spec, { png: output === "png", signal });
  const insights = chart.insights.map(({ text }) => text);
  const page = () => chartPage({ title: chart.title, language: chart.language, svg, insights, table: chart });
  const content = png ?? Buffer.from(output === "html" ? page() : svg);
  const path = await saveFile(workspace, `${base}.${output}`, content);
  await saveChart(workspace, base, chart);
  return { path, warning: png === undefined ? undefined : cjkFontWarning(svg) };
}
