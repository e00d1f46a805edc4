import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { readJsonFile } from "./charts/chart-file.ts";
import type { DrawnChart } from "./charts/new-chart.ts";
import type { Databases } from "./database/databases.ts";

const maxItems = 20;
/** How many pictures of one call a model is shown. */
const maxShown = 4;

const input = z.strictObject({
  charts: z.array(z.looseObject({})).min(1).optional().describe("The list of charts."),
  json_path: z.string().min(1).optional().describe("A JSON file with that list, in place of charts."),
  output_type: z
    .enum(["png", "svg", "html"])
    .default("png")
    .describe("The picture's format; html answers to the pointer, offline."),
  tool_type: z
    .enum(["visualization", "insight"])
    .default("visualization")
    .describe("visualization draws new charts; insight redraws existing ones with findings marked."),
  language: z.enum(["zh", "en"]).default("en").describe("Language of findings and of labels that are not in the data."),
});

const description = `Draws charts from data files into the folder visualization: the picture, the chart as JSON, and up to three findings computed from
what is drawn, as Markdown. charts for visualization is [{"csvFilePath": "sales.csv", "chartTitle": "Sales by month (EUR)", "chart": "line", "x": "month",
"y": "sales", "series": "year", "aggregate": "sum"}]. chart: line, area, bar, stacked, pie, scatter, histogram, box (y by the groups in x), heatmap (x, series down, y as colour),
sankey (x from, series to, y how much), radar (x the axes), treemap (x names, series groups), wordcloud (x words) or map (x countries; or x longitude, y latitude and, if wanted, a size); x: the column it goes along; y: what is measured, or a list of columns, a line each;
series: the column with a line or bar per value; aggregate (sum, mean, median, min, max, count): how rows at the same place become one value; name: the picture's name, if not the data file's. Name columns as in the file; what does not apply
or has only one possible answer may be left out. An item may have its own Vega-Lite "spec" without data instead. The result says what was drawn and what was not: compare it with what you wanted. The same file with the same title or name again
replaces the chart. For insight charts is [{"chartPath": "visualization/sales.png", "insights_id": [1, 3]}] with the findings' numbers: they are drawn into a copy of the chart, named with _new.`;

const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(maxItems);

/** The `data_visualization` tool. A chart that cannot be drawn does not stop the others. */
export function dataVisualization(deps: { readonly databases: Databases }): Tool {
  return defineTool({
    name: "data_visualization",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    async run({ tool_type, output_type: output, language, ...list }, context) {
      const outcomes: Outcome[] = [];
      const each = async (title: string, draw: () => Promise<DrawnChart>) =>
        outcomes.push(await attempt(title, context, draw));
      if (tool_type === "visualization") {
        // Maps and the names of countries come with it.
        const { newChart, newChartItem } = await import("./charts/new-chart.ts");
        for (const item of await listed(listOf(newChartItem), list, context.workspace))
          await each(item.chartTitle, () => newChart(deps, item, { output, language }, context));
      } else {
        const { markedChart, markedChartItem } = await import("./charts/marked-chart.ts");
        for (const item of await listed(listOf(markedChartItem), list, context.workspace))
          await each(item.chartPath, () => markedChart(item, output, context));
      }
      const drawn = outcomes.filter(({ ok }) => ok).length;
      const head = `${drawn} of ${outcomes.length} ${outcomes.length === 1 ? "chart" : "charts"} drawn.`;
      const images = outcomes.flatMap(({ image }) => (image === undefined ? [] : [image])).slice(0, maxShown);
      return {
        text: [head, ...outcomes.map(({ text }) => text)].join("\n\n"),
        isError: drawn < outcomes.length,
        ...(images.length > 0 && { images }),
      };
    },
  });
}

/** The charts that a call lists itself, or in the file it names. Rejects with `invalid_input`. */
async function listed<Schema extends z.ZodType>(
  schema: Schema,
  { charts, json_path }: Pick<z.output<typeof input>, "charts" | "json_path">,
  workspace: Workspace,
): Promise<z.output<Schema>> {
  if (charts === undefined && json_path !== undefined) return readJsonFile(workspace, json_path, schema);
  if (charts === undefined || json_path !== undefined)
    throw new AppError("invalid_input", "Give either charts or the json_path of a file that lists them.");
  const parsed = schema.safeParse(charts);
  if (!parsed.success) throw new AppError("invalid_input", `charts: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

type Outcome = { readonly ok: boolean; readonly text: string; readonly image?: DrawnChart["image"] };

async function attempt(title: string, { signal }: ToolContext, draw: () => Promise<DrawnChart>): Promise<Outcome> {
  try {
    const { text, image } = await draw();
    return { ok: true, text: `## ${title}\n${text}`, image };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    return { ok: false, text: `## ${title}\nNot drawn: ${error.message}` };
  }
}
