import { rm } from "node:fs/promises";
import { posix } from "node:path";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { holdFolder } from "../../../machine/workspace/held-folder.ts";
import { saveFile } from "../../../machine/workspace/save-file.ts";
import { kindOf, openFile } from "../../../machine/workspace/workspace-file.ts";

const folder = "visualization";
const maxBytes = 32 * 1024 * 1024;

/** A chart as it is stored beside its picture, so that it can be drawn again with findings. */
export const chartFile = z.looseObject({
  title: z.string(),
  language: z.enum(["zh", "en"]),
  csvFilePath: z.string(),
  spec: z.record(z.string(), z.unknown()),
  columns: z.array(z.object({ name: z.string(), kind: z.enum(["number", "time", "order", "name"]) })),
  rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
  /** What the columns are for; undefined for a chart drawn from the model's own spec. */
  roles: z
    .object({ along: z.int().optional(), measures: z.array(z.int()), parts: z.int().optional() })
    .transform(({ along, measures, parts }) => ({ along, measures, parts }))
    .optional(),
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

/** A stored chart: what it shows, and its findings. */
export type ChartFile = z.output<typeof chartFile>;

/** Distinguishes charts of the same name. */
type ChartIdentity = Pick<ChartFile, "csvFilePath" | "title">;

/**
 * The path without extension of a plain chart by this name: that of the earlier chart of this file
 * and, unless it `isNamed` by its caller, of this title, or an unused one.
 */
export function plainChartBase(
  workspace: Workspace,
  name: string,
  { isNamed, ...chart }: ChartIdentity & { readonly isNamed: boolean },
): Promise<string> {
  const base = posix.join(folder, name.replace(/(?<=.)\.[^.]+$/, ""));
  return baseOf(workspace, base, chart, { isMarked: false, isNamed });
}

/**
 * The path without extension of a copy with findings of the plain chart at `plain`, named with
 * `_new`.
 */
export function markedChartBase(workspace: Workspace, plain: string, chart: ChartIdentity): Promise<string> {
  return baseOf(workspace, `${plain}_new`, chart, { isMarked: true, isNamed: false });
}

async function baseOf(
  workspace: Workspace,
  name: string,
  chart: ChartIdentity,
  { isMarked, isNamed }: { readonly isMarked: boolean; readonly isNamed: boolean },
): Promise<string> {
  for (let number = 1; ; number++) {
    const base = number === 1 ? name : `${name}_${number}`;
    if ((await kindOf(workspace, `${base}.json`)) === "missing") return base;
    const there = await chartAt(workspace, `${base}.json`);
    const isSame = there?.csvFilePath === chart.csvFilePath && (isNamed || there.title === chart.title);
    if (isSame && there.shown.length > 0 === isMarked) return base;
  }
}

/** The chart in a file; undefined when the file is something else. */
async function chartAt(workspace: Workspace, path: string): Promise<ChartFile | undefined> {
  try {
    return await readJsonFile(workspace, path, chartFile);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The path without extension of a chart, given the path of any of its files. */
export async function chartBase(workspace: Workspace, chartPath: string): Promise<string> {
  const bare = chartPath.replace(/\.[^./]+$/, "");
  const candidates = [bare, posix.join(folder, posix.basename(bare))];
  for (const base of candidates) if ((await kindOf(workspace, `${base}.json`)) === "file") return base;
  throw new AppError(
    "not_found",
    `There is no chart ${chartPath}: neither ${candidates.join(".json nor ")}.json exists.`,
  );
}

/**
 * Validated JSON from a workspace file. Rejects with `too_large`, and with `invalid_input` and what
 * is wrong with it.
 */
export async function readJsonFile<Schema extends z.ZodType>(
  workspace: Workspace,
  path: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  await using file = await openFile(workspace, path);
  const content = await file.read(maxBytes);
  if (content === undefined) throw new AppError("too_large", `${path} is larger than 32 MB.`);
  const parsed = schema.safeParse(parse(path, content.toString("utf8")));
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

/**
 * Writes a chart's JSON beside its `picture`, and its findings as Markdown. Deletes the other
 * pictures of an earlier chart at this path when they show something else, and its copies with
 * findings.
 */
export async function saveChart(workspace: Workspace, base: string, chart: ChartFile, picture: string): Promise<void> {
  const before = await chartAt(workspace, `${base}.json`);
  if (before !== undefined && !Bun.deepEquals(before, chart)) await removeStale(workspace, base, picture);
  await saveFile(workspace, `${base}.json`, Buffer.from(JSON.stringify(chart)));
  if (chart.insights.length === 0) return;
  const lines = chart.insights.map(({ text }, index) => `${index + 1}. ${text}`);
  await saveFile(workspace, `${base}.md`, Buffer.from(`## ${chart.title} Insights\n${lines.join("\n")}\n`));
}

async function removeStale(workspace: Workspace, base: string, picture: string): Promise<void> {
  const copy = await chartAt(workspace, `${base}_new.json`);
  const copies = copy !== undefined && copy.shown.length > 0 ? [`${base}_new`] : [];
  const own = ["png", "svg", "html", "md"].map((extension) => `${base}.${extension}`);
  const theirs = copies.flatMap((one) =>
    ["json", "png", "svg", "html", "md"].map((extension) => `${one}.${extension}`),
  );
  await using held = await holdFolder(workspace.root, [folder]);
  for (const path of [...own.filter((path) => path !== picture), ...theirs])
    await rm(held.at(posix.basename(path)), { force: true });
}
