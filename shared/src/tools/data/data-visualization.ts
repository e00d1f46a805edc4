import * as z from "zod";
import { AppError } from "../../errors.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { chartBase, chartFile, newChartBase, readJsonFile } from "./charts/chart-file.ts";
import { chartInsights } from "./charts/chart-insights.ts";
import { chartTable } from "./charts/chart-table.ts";
import { chooseSpec } from "./charts/choose-spec.ts";
import { drawChart } from "./charts/draw-chart.ts";
import { refuseLoading } from "./charts/refuse-loading.ts";
import type { Databases } from "./databases.ts";
import { tableOf } from "./describe-data.ts";
import { sayFinding } from "./insights/say-finding.ts";

const mostRows = 5000;
const mostItems = 20;
const mostCharacters = 4 * 1024 * 1024;

const input = z.strictObject({
  json_path: z.string().min(1).describe("The JSON file that lists the charts."),
  output_type: z.enum(["png", "svg", "html"]).default("html").describe("The kind of picture; html needs no network."),
  tool_type: z
    .enum(["visualization", "insight"])
    .default("visualization")
    .describe("visualization draws new charts; insight draws existing ones again, with findings."),
  language: z.enum(["zh", "en"]).default("en").describe("Language of findings and of labels that are not in the data."),
});

const description = `Draws charts from CSV files into the folder visualization: the picture, the chart as JSON, and findings computed from
its data (trend, outliers, correlation, turning points …) as Markdown. The JSON file for visualization is
[{"csvFilePath": "sales.csv", "chartTitle": "Sales by month (EUR)"}]; the columns decide what is drawn, so write a small tidy CSV for
each chart: first what it goes along, then what is measured, units in the column names. An item may carry its own Vega-Lite "spec" without data. For insight it is
[{"chartPath": "visualization/sales.png", "insights_id": [1, 3]}], the numbers being those of the findings.`;

const visualizations = z
  .array(
    z.looseObject({
      csvFilePath: z.string().min(1),
      chartTitle: z.string().min(1),
      spec: z.record(z.string(), z.unknown()).optional(),
    }),
  )
  .min(1)
  .max(mostItems);

const insights = z
  .array(z.looseObject({ chartPath: z.string().min(1), insights_id: z.array(z.int().min(1)) }))
  .min(1)
  .max(mostItems);

type Options = Pick<z.output<typeof input>, "output_type" | "language">;
type Deps = { readonly databases: Databases };

/** The `data_visualization` tool. A chart that cannot be drawn does not keep the others from it. */
export function dataVisualization(deps: Deps): Tool {
  return defineTool({
    name: "data_visualization",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    async run({ json_path, tool_type, ...options }, context) {
      const outcomes: Outcome[] = [];
      const each = async (title: string, draw: () => Promise<string>) =>
        outcomes.push(await attempt(title, context, draw));
      if (tool_type === "visualization") {
        for (const item of await readJsonFile(context.workspace, json_path, visualizations))
          await each(item.chartTitle, () => visualize(deps, item, options, context));
      } else {
        for (const item of await readJsonFile(context.workspace, json_path, insights))
          await each(item.chartPath, () => addInsights(item, options, context));
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

async function visualize(
  { databases }: Deps,
  { csvFilePath, chartTitle, spec }: z.output<typeof visualizations>[number],
  { output_type, language }: Options,
  context: ToolContext,
): Promise<string> {
  const { workspace, signal } = context;
  refuseLoading(spec);
  const { table: file } = await tableOf(workspace, csvFilePath);
  const sql = `FROM ${file} LIMIT ${mostRows + 1}`;
  const result = await databases.query(workspace, sql, { signal, maxCharacters: mostCharacters });
  if (result.total === 0) throw new AppError("invalid_input", `${csvFilePath} has no rows.`);
  const table = chartTable({ columns: result.columns, rows: result.rows.slice(0, mostRows) });
  const found = chartInsights(table).map((finding) => ({ ...finding, text: sayFinding(finding, language) }));
  const base = await newChartBase(workspace, csvFilePath);
  const chart = chartFile.parse({
    title: chartTitle,
    language,
    csvFilePath,
    spec: spec ?? chooseSpec(table, chartTitle, language),
    ...table,
    insights: found,
  });
  const { path, warning } = await drawChart(context, base, chart, { output: output_type, subtitle: [] });
  const cut =
    table.rows.length < result.total
      ? `Only the first ${table.rows.length} rows are drawn: sum the data up first.`
      : "";
  const list = chart.insights.map(({ text }, index) => `${index + 1}. ${text}`).join("\n");
  const told = list === "" ? "" : `Findings, also in ${base}.md:\n${list}`;
  return [`Chart: ${path} (data: ${base}.json)`, warning ?? "", cut, told].filter((line) => line !== "").join("\n");
}

async function addInsights(
  { chartPath, insights_id }: z.output<typeof insights>[number],
  { output_type }: Options,
  context: ToolContext,
): Promise<string> {
  const base = await chartBase(context.workspace, chartPath);
  const chart = await readJsonFile(context.workspace, `${base}.json`, chartFile);
  refuseLoading(chart.spec);
  const subtitle = insights_id.map((id) => {
    const finding = chart.insights[id - 1];
    if (finding) return finding.text;
    throw new AppError("invalid_input", `There is no finding ${id}: ${chartPath} has ${chart.insights.length}.`);
  });
  const { path, warning } = await drawChart(context, base, chart, { output: output_type, subtitle });
  return [`Chart with findings: ${path}`, ...(warning === undefined ? [] : [warning])].join("\n");
}
