import { posix } from "node:path";
import * as z from "zod";
import { defineTool } from "../../core/define-tool.ts";
import { AppError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { mediaTypeOf } from "../../machine/workspace/media-type.ts";
import { saveFile } from "../../machine/workspace/save-file.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import { escapeHtml, htmlPage } from "./charts/html-page.ts";

const mostImageBytes = 5 * 1024 * 1024;
const mostBytes = 20 * 1024 * 1024;
const image = /<img src="([^"]*)"/g;

const input = z.strictObject({
  title: z.string().min(1),
  markdown: z
    .string()
    .min(1)
    .describe("The report without its title. Charts are images by path: ![Sales](visualization/sales.png)."),
  path: z
    .string()
    .regex(/^[^.]+$/, "without an extension")
    .default("report")
    .describe("Path of the two files, without extension."),
  language: z.enum(["zh", "en"]).default("en"),
});

const description = `Writes a report as two files: report.md as given, and report.html, one self-contained page with its pictures.
Pictures are PNG, JPEG, GIF, WebP or SVG workspace files.`;

/**
 * The `write_report` tool. HTML in the Markdown is shown as text, and the page may neither load nor
 * run anything.
 */
export function writeReport(): Tool {
  return defineTool({
    name: "write_report",
    description: description.replaceAll("\n", " "),
    input,
    effect: "idempotent",
    async run({ title, markdown, path, language }, { workspace }) {
      const content = Bun.markdown.html(markdown, { noHtmlBlocks: true, noHtmlSpans: true, tables: true });
      const body = `<h1>${escapeHtml(title)}</h1>\n${await withImages(workspace, content.replaceAll(/ href="(?!https?:|#)[^"]*"/g, ""))}`;
      await saveFile(workspace, `${path}.md`, Buffer.from(`# ${title}\n\n${markdown.trimEnd()}\n`));
      await saveFile(workspace, `${path}.html`, Buffer.from(htmlPage(title, language, body)));
      return `Written: ${path}.md and ${path}.html.`;
    },
  });
}

/** The page with each picture embedded as data. */
async function withImages(workspace: Workspace, html: string): Promise<string> {
  const sources = new Set([...html.matchAll(image)].map(([, source = ""]) => source));
  const inlined = new Map<string, string>();
  let total = 0;
  for (const source of sources) {
    const data = await dataUrl(workspace, source.replaceAll("&amp;", "&"));
    total += data.length;
    if (total > mostBytes)
      throw new AppError("too_large", "The pictures of the report are larger than 20 MB together.");
    inlined.set(source, data);
  }
  return html.replaceAll(image, (_, source: string) => `<img src="${inlined.get(source) ?? ""}"`);
}

async function dataUrl(workspace: Workspace, source: string): Promise<string> {
  const type = mediaTypeOf(posix.basename(source));
  if (/^[a-z]+:/i.test(source) || !type.startsWith("image/"))
    throw new AppError("unsupported", `The picture ${source} is no image file of the workspace.`);
  await using file = await openFile(workspace, decodeURI(source));
  if (file.stats.size > mostImageBytes) throw new AppError("too_large", `The picture ${source} is larger than 5 MB.`);
  return `data:${type};base64,${(await file.handle.readFile()).toString("base64")}`;
}
