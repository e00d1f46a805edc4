import { posix } from "node:path";
import * as z from "zod";
import { AppError } from "../../../errors.ts";
import { kindOf } from "../../../workspace/workspace-file.ts";
import type { ToolContext } from "../../tool.ts";
import type { Databases } from "../databases.ts";
import { type Language, sayFinding } from "../insights/say-finding.ts";
import { tableOf } from "../table-of.ts";
import { chartFile, newChartBase } from "./chart-file.ts";
import { chartInsights } from "./chart-insights.ts";
import { chartTable } from "./chart-table.ts";
import { chooseSpec } from "./choose-spec.ts";
import { drawChart, type OutputType } from "./draw-chart.ts";
import { fewLines, fewNames, sharedPlaces } from "./few-enough.ts";
import { inOrder } from "./in-order.ts";
import { refuseLoading } from "./refuse-loading.ts";

const mostRows = 5000;
const mostCharacters = 4 * 1024 * 1024;

/** One chart of the JSON file for visualization. */
export const newChartItem = z.looseObject({
  csvFilePath: z.string().min(1),
  chartTitle: z.string().min(1),
  spec: z.record(z.string(), z.unknown()).optional(),
});

/** Draws a file's data, keeps the chart and its findings, and tells what there is now. Rejects with what stands in the way. */
export async function newChart(
  { databases }: { readonly databases: Databases },
  { csvFilePath, chartTitle, spec }: z.output<typeof newChartItem>,
  { output, language }: { readonly output: OutputType; readonly language: Language },
  context: ToolContext,
): Promise<string> {
  const { workspace, signal } = context;
  refuseLoading(spec);
  const { table: file } = await tableOf(workspace, await placeOfData(context, csvFilePath));
  const result = await databases.query(workspace, `FROM ${file} LIMIT ${mostRows + 1}`, {
    signal,
    maxCharacters: mostCharacters,
  });
  if (result.total === 0) throw new AppError("invalid_input", `${csvFilePath} has no rows.`);
  const read = inOrder(chartTable({ columns: result.columns, rows: result.rows.slice(0, mostRows) }));
  const asItIs = { table: read, note: undefined };
  const lines = spec === undefined ? fewLines(read) : asItIs;
  const { table, note } = spec === undefined ? fewNames(lines.table) : asItIs;
  const { found, left } = chartInsights(lines.table);
  const base = await newChartBase(workspace, csvFilePath);
  const chart = chartFile.parse({
    title: chartTitle,
    language,
    csvFilePath,
    spec: spec ?? chooseSpec(table, chartTitle, language),
    ...table,
    insights: found.map((finding) => ({ ...finding, text: sayFinding(finding, language) })),
    shown: [],
  });
  const { path, warning } = await drawChart(context, base, chart, output);
  const cut =
    read.rows.length < result.total ? `Only the first ${mostRows} rows are drawn: sum the data up first.` : "";
  const list = chart.insights.map(({ text }, index) => `${index + 1}. ${text}`).join("\n");
  const more = left > 0 ? `\n(${left} weaker ${left === 1 ? "finding" : "findings"} left out)` : "";
  const told = list === "" ? "No findings." : `Findings, clearest first, also in ${base}.md:\n${list}${more}`;
  const notes = [warning, lines.note, note, spec === undefined ? sharedPlaces(table) : undefined, cut];
  return [`Chart saved in: ${path} (its data: ${base}.json)`, ...notes, told].filter(Boolean).join("\n");
}

/** A bare name may also mean a file in the folder of charts, where Python puts it. */
async function placeOfData({ workspace }: ToolContext, path: string): Promise<string> {
  const beside = posix.join("visualization", path);
  if (posix.isAbsolute(path) || (await kindOf(workspace, path)) !== "missing") return path;
  return (await kindOf(workspace, beside)) === "file" ? beside : path;
}
