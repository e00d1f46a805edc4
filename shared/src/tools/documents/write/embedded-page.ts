import { posix } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { mediaTypeOf } from "../../../machine/workspace/media-type.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { escapeHtml, htmlPage } from "../../page/html-page.ts";
import { type ChartPictures, drawCharts } from "./drawn-charts.ts";
import { withLayout } from "./page-layout.ts";

const maxImageBytes = 5 * 1024 * 1024;
const maxBytes = 20 * 1024 * 1024;
const image = /<img src="([^"]*)"/g;

/** A document to be written. */
export type NewDocument = {
  readonly title: string | undefined;
  readonly markdown: string;
  readonly language: string;
};

/** What making its page needs. */
export type ComposeContext = { readonly workspace: Workspace; readonly signal: AbortSignal };

/**
 * The body of a document as HTML: HTML in its Markdown is shown as text, pictures of the workspace
 * and charts (blocks of code named `vega-lite`) are embedded, only links to web pages are kept;
 * `withLayout` ends pages and sizes pictures.
 * Rejects with `unsupported` for a file that is not a picture, `too_large`, and with `rejected` or
 * `forbidden` for a chart that cannot be drawn.
 */
export async function embeddedBody(
  { title, markdown, language }: NewDocument,
  { workspace, signal }: ComposeContext,
  pictures: ChartPictures,
): Promise<string> {
  const plain = Bun.markdown.html(markdown, { noHtmlBlocks: true, noHtmlSpans: true, tables: true });
  const safe = withLayout(plain).replaceAll(/ href="(?!https?:|#)[^"]*"/g, "");
  const embedded = await withImages(workspace, safe);
  const drawn = await drawCharts(embedded, { pictures, language: language === "zh" ? "zh" : "en", signal });
  return title === undefined ? drawn : `<h1>${escapeHtml(title)}</h1>\n${drawn}`;
}

/** The document as one self-contained page, which may neither load nor run anything. */
export async function embeddedPage(composition: NewDocument, context: ComposeContext): Promise<string> {
  const body = await embeddedBody(composition, context, "svg");
  return htmlPage(composition.title ?? firstHeading(body), composition.language, body);
}

function firstHeading(body: string): string {
  const heading = /<h\d[^>]*>(.*?)<\/h\d>/s.exec(body)?.[1] ?? "Document";
  return heading
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

/** The page with each picture embedded as data. */
async function withImages(workspace: Workspace, html: string): Promise<string> {
  const sources = new Set([...html.matchAll(image)].map(([, source = ""]) => source));
  const inlined = new Map<string, string>();
  let total = 0;
  for (const source of sources) {
    const data = await dataUrl(workspace, source.replaceAll("&amp;", "&"));
    total += data.length;
    if (total > maxBytes)
      throw new AppError("too_large", "The pictures of the document are larger than 20 MB together.");
    inlined.set(source, data);
  }
  return html.replaceAll(image, (_, source: string) => `<img src="${inlined.get(source) ?? ""}"`);
}

async function dataUrl(workspace: Workspace, source: string): Promise<string> {
  const type = mediaTypeOf(posix.basename(source));
  if (/^[a-z]+:/i.test(source) || !type.startsWith("image/")) {
    const hint = /\.html$/i.test(source) ? " A chart as a picture is drawn with output_type png." : "";
    throw new AppError("unsupported", `The picture ${source} is not an image file of the workspace.${hint}`);
  }
  await using file = await openFile(workspace, decodeURI(source));
  const content = await file.read(maxImageBytes);
  if (content === undefined) throw new AppError("too_large", `The picture ${source} is larger than 5 MB.`);
  return `data:${type};base64,${content.toString("base64")}`;
}
