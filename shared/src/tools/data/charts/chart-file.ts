import { posix } from "node:path";
import * as z from "zod";
import { AppError } from "../../../errors.ts";
import { saveFile } from "../../../workspace/save-file.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { kindOf, openFile } from "../../../workspace/workspace-file.ts";

const folder = "visualization";
const mostBytes = 32 * 1024 * 1024;

/** A chart as it is kept beside its picture, so that it can be drawn again with findings. */
export const chartFile = z.looseObject({
  title: z.string(),
  language: z.enum(["zh", "en"]),
  csvFilePath: z.string(),
  spec: z.record(z.string(), z.unknown()),
  columns: z.array(z.object({ name: z.string(), kind: z.enum(["number", "time", "order", "name"]) })),
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
  insights: z.array(
    z.object({
      type: z.string(),
      series: z.string(),
      at: z.array(z.string()),
      figures: z.record(z.string(), z.number()),
      strength: z.number(),
      text: z.string(),
    }),
  ),
  /** Numbers of the findings that the picture shows. */
  shown: z.array(z.int()),
});

export type ChartFile = z.output<typeof chartFile>;

/** The path without extension that a new chart of this file gets: the file's name, with `_new` as long as there is such a chart. */
export async function newChartBase(workspace: Workspace, path: string): Promise<string> {
  let base = posix.join(folder, posix.basename(path).replace(/\.[^.]+$/, ""));
  while ((await kindOf(workspace, `${base}.json`)) !== "missing") base += "_new";
  return base;
}

/** The path without extension of the chart that any of its files names. */
export async function chartBase(workspace: Workspace, chartPath: string): Promise<string> {
  const bare = chartPath.replace(/\.[^./]+$/, "");
  const candidates = [bare, posix.join(folder, posix.basename(bare))];
  for (const base of candidates) if ((await kindOf(workspace, `${base}.json`)) === "file") return base;
  throw new AppError(
    "not_found",
    `There is no chart ${chartPath}: neither ${candidates.join(".json nor ")}.json exists.`,
  );
}

/** JSON of a workspace's file, checked. Rejects with `too_large`, and with `invalid_input` and what is wrong with it. */
export async function readJsonFile<Schema extends z.ZodType>(
  workspace: Workspace,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  await using file = await openFile(workspace, path);
  if (file.stats.size > mostBytes) throw new AppError("too_large", `${path} is larger than 32 MB.`);
  const parsed = schema.safeParse(parse(path, await file.handle.readFile("utf8")));
  if (!parsed.success) throw new AppError("invalid_input", `${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_input", `${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Writes a chart's JSON, and its findings as Markdown when there are any. */
export async function saveChart(workspace: Workspace, base: string, chart: ChartFile): Promise<void> {
  await saveFile(workspace, `${base}.json`, Buffer.from(JSON.stringify(chart, undefined, 1)));
  if (chart.insights.length === 0) return;
  const lines = chart.insights.map(({ text }, index) => `${index + 1}. ${text}`);
  await saveFile(workspace, `${base}.md`, Buffer.from(`## ${chart.title} Insights\n${lines.join("\n")}\n`));
}
