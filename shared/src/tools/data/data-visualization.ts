import * as z from "zod";
import { AppError } from "../../errors.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { readJsonFile } from "./charts/chart-file.ts";
import { markedChart, markedChartItem } from "./charts/marked-chart.ts";
import { newChart, newChartItem } from "./charts/new-chart.ts";
import type { Databases } from "./databases.ts";

const mostItems = 20;

const input = z.strictObject({
  json_path: z.string().min(1).describe("The JSON file that lists the charts."),
  output_type: z.enum(["png", "svg", "html"]).default("html").describe("The kind of picture; html needs no network."),
  tool_type: z
    .enum(["visualization", "insight"])
    .default("visualization")
    .describe("visualization draws new charts; insight draws existing ones again, with findings marked in them."),
  language: z.enum(["zh", "en"]).default("en").describe("Language of findings and of labels that are not in the data."),
});

const description = `Draws charts from data files into the folder visualization: the picture, the chart as JSON, and up to six findings computed from
its data (trend, outliers, correlation, turning points …), clearest first, as Markdown. The JSON file for visualization is
[{"csvFilePath": "sales.csv", "chartTitle": "Sales by month (EUR)"}]; the columns decide what is drawn, so write a small tidy CSV for
each chart: first what it goes along, then what is measured, units in the column names. An item may carry its own Vega-Lite "spec" without data. For insight it is
[{"chartPath": "visualization/sales.png", "insights_id": [1, 3]}], the numbers being those of the findings: they are drawn into a copy of the chart, named with _new.`;

const visualizations = z.array(newChartItem).min(1).max(mostItems);
const insights = z.array(markedChartItem).min(1).max(mostItems);

/** The `data_visualization` tool. A chart that cannot be drawn does not keep the others from it. */
export function dataVisualization(deps: { readonly databases: Databases }): Tool {
  return defineTool({
    name: "data_visualization",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    async run({ json_path, tool_type, output_type: output, language }, context) {
      const outcomes: Outcome[] = [];
      const each = async (title: string, draw: () => Promise<string>) =>
        outcomes.push(await attempt(title, context, draw));
      if (tool_type === "visualization") {
        for (const item of await readJsonFile(context.workspace, json_path, visualizations))
          await each(item.chartTitle, () => newChart(deps, item, { output, language }, context));
      } else {
        for (const item of await readJsonFile(context.workspace, json_path, insights))
          await each(item.chartPath, () => markedChart(item, output, context));
      }
      const drawn = outcomes.filter(({ ok }) => ok).length;
      const head = `${drawn} of ${outcomes.length} ${outcomes.length === 1 ? "chart" : "charts"} drawn.`;
      return { text: [head, ...outcomes.map(({ text }) => text)].join("\n\n"), isError: drawn < outcomes.length };
    },
  });
}

type Outcome = { readonly ok: boolean; readonly text: string };

async function attempt(title: string, { signal }: ToolContext, draw: () => Promise<string>): Promise<Outcome> {
  try {
    return { ok: true, text: `## ${title}\n${await draw()}` };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    return { ok: false, text: `## ${title}\nNot drawn: ${error.message}` };
  }
}
