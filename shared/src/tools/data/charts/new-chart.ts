import { posix } from "node:path";
import * as z from "zod";
import type { ImagePart } from "../../../core/model.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import { kindOf } from "../../../machine/workspace/workspace-file.ts";
import type { Databases } from "../database/databases.ts";
import { type FindingLanguage, sayFinding } from "../insights/say-finding.ts";
import { chartFile, plainChartBase } from "./chart-file.ts";
import { chartInsights } from "./chart-insights.ts";
import { type ChartKind, chartRequest, type Plot, requireOneEach } from "./chart-roles.ts";
import { chooseSpec } from "./choose-spec.ts";
import { drawChart, type OutputType } from "./draw-chart.ts";
import { drawnText } from "./drawn-text.ts";
import { fewEnough, inOrder } from "./plot-rows.ts";
import { readPlot, readTable } from "./read-plot.ts";
import { refuseLoading } from "./render/refuse-loading.ts";
import { requireShape } from "./shapes/require-shape.ts";

/** One chart of the JSON file for visualization. */
export const newChartItem = z.looseObject({
  csvFilePath: z.string().min(1),
  chartTitle: z.string().min(1),
  name: z
    .string()
    .regex(/^[^/\\]{1,100}$/, "is a file's name, without folders")
    .optional(),
  ...chartRequest,
  spec: z.record(z.string(), z.unknown()).optional(),
});
type NewChartItem = z.output<typeof newChartItem>;

/** A drawn chart: a description, and the picture. */
export type DrawnChart = { readonly text: string; readonly image: ImagePart | undefined };

type Options = { readonly output: OutputType; readonly language: FindingLanguage };

/**
 * Draws a file's data, stores the chart and its findings, replacing an earlier chart of this file
 * and title or of the name it is given, and describes what was drawn. Rejects with the reason when
 * it cannot.
 */
export async function newChart(
  { databases }: { readonly databases: Databases },
  item: NewChartItem,
  options: Options,
  context: ToolContext,
): Promise<DrawnChart> {
  refuseLoading(item.spec);
  const deps = { databases, context, path: await placeOfData(context, item.csvFilePath) };
  const { csvFilePath, chartTitle: title, name = posix.basename(csvFilePath) } = item;
  const base = await plainChartBase(context.workspace, name, {
    ...{ csvFilePath, title },
    isNamed: item.name !== undefined,
  });
  if (item.spec !== undefined) {
    const { table, total, cautions } = await readTable(deps);
    const left = leftText(total - table.rows.length, total);
    const told = ["Drawn by your own spec; no findings are computed for one.", ...left, ...cautions];
    return keep(base, { item, spec: item.spec, ...table, told }, options, context);
  }
  const read = await readPlot(deps, item);
  requireOneEach(read.plot, read.kind);
  const { plot, notes } = fewEnough(inOrder(read.plot), read.kind);
  const said = requireShape(plot, read.kind);
  const spec = chooseSpec(plot, read.kind, options.language);
  const told = [
    drawnText(plot, read),
    ...said,
    ...notes,
    ...leftText(read.left, read.left + read.plot.rows.length),
    ...read.cautions,
  ];
  if (!unjudged.has(read.kind)) return keep(base, { item, spec, ...plot, told }, options, context);
  const { roles: _, ...table } = plot;
  const none = `No findings are computed for a ${read.kind} chart.`;
  return keep(base, { item, spec, ...table, told: [...told, none] }, options, context);
}

/** What they show is no course of values. */
const unjudged: ReadonlySet<ChartKind> = new Set(["box", "heatmap", "sankey", "radar", "treemap", "wordcloud", "map"]);

async function keep(
  base: string,
  made: Omit<Plot, "roles"> & {
    readonly item: NewChartItem;
    readonly spec: Readonly<Record<string, unknown>>;
    readonly roles?: Plot["roles"];
    readonly told: readonly string[];
  },
  { output, language }: Options,
  context: ToolContext,
): Promise<DrawnChart> {
  const { item, roles, told, ...table } = made;
  const { found, left } = roles === undefined ? { found: [], left: 0 } : chartInsights({ ...table, roles });
  const chart = chartFile.parse({
    title: item.chartTitle,
    language,
    csvFilePath: item.csvFilePath,
    ...table,
    ...(roles !== undefined && { roles }),
    insights: found.map((finding) => ({ ...finding, text: sayFinding(finding, language) })),
    shown: [],
  });
  const { path, warning, image } = await drawChart(context, base, chart, output);
  const list = chart.insights.map(({ text }, index) => `${index + 1}. ${text}`).join("\n");
  const more = left > 0 ? `\n(${left} weaker ${left === 1 ? "finding" : "findings"} left out)` : "";
  const findings = list === "" ? "No findings." : `Findings, clearest first, also in ${base}.md:\n${list}${more}`;
  const lines = [`Chart saved in: ${path} (its data: ${base}.json)`, ...told, warning, findings];
  return { text: lines.filter((line) => line !== undefined).join("\n"), image };
}

function leftText(left: number, all: number): string[] {
  return left > 0 ? [`Only the first ${all - left} of ${all} rows were read. Sum the data up first.`] : [];
}

/** A bare name may also mean a file in the charts folder, where Python puts it. */
async function placeOfData({ workspace }: ToolContext, path: string): Promise<string> {
  const beside = posix.join("visualization", path);
  if (posix.isAbsolute(path) || (await kindOf(workspace, path)) !== "missing") return path;
  return (await kindOf(workspace, beside)) === "file" ? beside : path;
}
