import type { ImagePart } from "../../../core/model.ts";
import type { ToolContext } from "../../../core/tools/tool.ts";
import { saveFile } from "../../../machine/workspace/save-file.ts";
import { type ChartFile, saveChart } from "./chart-file.ts";
import { chartPage } from "./interactive/chart-page.ts";
import { renderChart } from "./render/render-chart.ts";
import { shownSpec } from "./shown-spec.ts";

/** The output formats of a chart. */
export type OutputType = "png" | "svg" | "html";

/**
 * Draws a chart with its findings as marks and below the title, and stores it with its data.
 * Returns the picture's path, notes about it, and the picture for a model.
 */
export async function drawChart(
  { workspace, signal }: Pick<ToolContext, "workspace" | "signal">,
  base: string,
  chart: ChartFile,
  output: OutputType,
): Promise<{ readonly path: string; readonly warning: string | undefined; readonly image: ImagePart | undefined }> {
  const spec = shownSpec(chart);
  const { svg, png, preview } = await renderChart(spec, { png: output === "png", signal });
  const content = png ?? Buffer.from(output === "html" ? await chartPage(chart, svg) : svg);
  const path = await saveFile(workspace, `${base}.${output}`, content);
  await saveChart(workspace, base, chart, `${base}.${output}`);
  const image: ImagePart | undefined =
    preview === undefined ? undefined : { type: "image", mediaType: "image/png", data: preview };
  return { path, warning: png === undefined ? undefined : cjkFontWarning(svg), image };
}

const cjk = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const fontFile =
  "**/{*CJK*,wqy-*,*Hei*,*Song*,*Mincho*,ipa*,Takao*,Nanum*,SourceHan*,DroidSansFallback*,unifont*}.{ttf,ttc,otf,pcf}";
const fontFolders = ["/usr/share/fonts", "/usr/local/share/fonts"];
const warning =
  `No font here shows Chinese, Japanese or Korean: in this PNG those characters are boxes. Draw it again with output_type svg or html, which the
reader's own fonts show (the machine's owner can install one: fonts-wqy-microhei).`.replaceAll("\n", " ");

/**
 * A warning when a text contains Chinese, Japanese or Korean and this machine has no font for it;
 * undefined otherwise.
 */
export function cjkFontWarning(text: string, folders: readonly string[] = fontFolders): string | undefined {
  if (process.platform !== "linux" || !cjk.test(text)) return undefined;
  const found = folders.some((cwd) => {
    try {
      return !new Bun.Glob(fontFile).scanSync({ cwd, followSymlinks: true }).next().done;
    } catch {
      return false;
    }
  });
  return found ? undefined : warning;
}
