import { saveFile } from "../../../workspace/save-file.ts";
import type { ToolContext } from "../../tool.ts";
import { type ChartFile, saveChart } from "./chart-file.ts";
import { records } from "./chart-table.ts";
import { cjkFontWarning } from "./cjk-font.ts";
import { finishedSpec } from "./finished-spec.ts";
import { chartPage } from "./html-page.ts";
import { renderChart } from "./render-chart.ts";

/** The kinds of picture. */
export type OutputType = "png" | "svg" | "html";

/** Draws a chart with these of its findings below the title, keeps it with its data, and answers the picture's path and what is to be known of it. */
export async function drawChart(
  { workspace, signal }: Pick<ToolContext, "workspace" | "signal">,
  base: string,
  chart: ChartFile,
  options: { readonly output: OutputType; readonly subtitle: readonly string[] },
): Promise<{ readonly path: string; readonly warning: string | undefined }> {
  const { output, subtitle } = options;
  const title = { text: chart.title, subtitle };
  const spec = finishedSpec(chart.spec, records(chart), title);
  const { svg, png } = await renderChart(spec, { png: output === "png", signal });
  const insights = chart.insights.map(({ text }) => text);
  const page = () => chartPage({ title: chart.title, language: chart.language, svg, insights, table: chart });
  const content = png ?? Buffer.from(output === "html" ? page() : svg);
  const path = await saveFile(workspace, `${base}.${output}`, content);
  await saveChart(workspace, base, chart);
  return { path, warning: png === undefined ? undefined : cjkFontWarning(svg) };
}
