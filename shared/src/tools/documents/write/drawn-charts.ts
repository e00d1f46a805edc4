import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { finishedSpec } from "../../data/charts/finished-spec.ts";
import { refuseLoading } from "../../data/charts/render/refuse-loading.ts";
import { renderChart } from "../../data/charts/render/render-chart.ts";

/** How charts are embedded: as drawings that can be enlarged, or as pixels. */
export type ChartPictures = "svg" | "png";

const block = /<pre><code class="language-vega-lite">([\s\S]*?)<\/code><\/pre>/g;
const maxCharts = 20;

const value = z.union([z.string(), z.number(), z.null()]);
const chart = z.looseObject({
  title: z.string().default(""),
  data: z.object({ values: z.array(z.record(z.string(), value)).min(1).max(5_000) }),
});

/**
 * HTML with its blocks of Vega-Lite drawn, each in a process that reaches nothing. A chart brings
 * its data (`data.values`); one that names anything to load is refused.
 */
export async function drawCharts(
  html: string,
  {
    pictures,
    language,
    signal,
  }: { readonly pictures: ChartPictures; readonly language: "zh" | "en"; readonly signal: AbortSignal },
): Promise<string> {
  const found = [...html.matchAll(block)];
  if (found.length > maxCharts) throw new AppError("too_large", `A document may have ${maxCharts} charts.`);
  const parts: string[] = [];
  let end = 0;
  for (const { 0: all, 1: code = "", index } of found) {
    const { data, title, ...spec } = chartIn(code);
    refuseLoading(spec);
    const finished = finishedSpec(spec, data.values, { title, subtitle: [], language });
    const { svg, png } = await renderChart(finished, { png: pictures === "png", signal });
    const source =
      png === undefined
        ? `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`
        : `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
    parts.push(html.slice(end, index), `<p><img src="${source}" alt="${title.replaceAll(/[<>"&]/g, " ")}"></p>`);
    end = index + all.length;
  }
  return [...parts, html.slice(end)].join("");
}

function chartIn(code: string): z.output<typeof chart> {
  const text = code
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
  try {
    return chart.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : error;
    throw new AppError("invalid_input", `A vega-lite block is not a chart with data.values: ${why}`);
  }
}
