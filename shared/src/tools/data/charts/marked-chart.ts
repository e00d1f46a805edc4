import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import { chartBase, chartFile, markedChartBase, readJsonFile } from "./chart-file.ts";
import { drawChart, type OutputType } from "./draw-chart.ts";
import type { DrawnChart } from "./new-chart.ts";
import { refuseLoading } from "./render/refuse-loading.ts";

/** One chart of the JSON file for insight. */
export const markedChartItem = z.looseObject({
  chartPath: z.string().min(1),
  insights_id: z.array(z.int().min(1)).min(1),
});

/**
 * Draws a chart again with the findings of these numbers in it, beside the plain one, and reports
 * which it shows.
 */
export async function markedChart(
  { chartPath, insights_id }: z.output<typeof markedChartItem>,
  output: OutputType,
  context: ToolContext,
): Promise<DrawnChart> {
  const plain = await chartBase(context.workspace, chartPath);
  const chart = await readJsonFile(context.workspace, `${plain}.json`, chartFile);
  refuseLoading(chart.spec);
  const shown = [...new Set(insights_id)];
  const wrong = shown.find((id) => chart.insights[id - 1] === undefined);
  if (wrong !== undefined)
    throw new AppError("invalid_input", `There is no finding ${wrong}: ${chartPath} has ${chart.insights.length}.`);
  const base = await markedChartBase(context.workspace, plain, chart);
  const { path, warning, image } = await drawChart(context, base, { ...chart, shown }, output);
  const told = shown.map((id) => `${id}. ${chart.insights[id - 1]?.text}`);
  const lines = [`Chart with findings saved in: ${path} (${chartPath} is as it was)`, ...told];
  return { text: [...lines, ...(warning === undefined ? [] : [warning])].join("\n"), image };
}
