import { extname } from "node:path";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { saveFile } from "../../machine/workspace/save-file.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import { asksForDocuments } from "./asks-for-documents.ts";
import { embeddedBody, embeddedPage } from "./write/embedded-page.ts";
import { type Look, lookAtPage, lookAtPdf, type Printer, printPage } from "./write/look-at.ts";
import { readBackWord } from "./write/read-back-word.ts";
import { sheetChart, sheetPageShows, type WorkbookRequest } from "./write/workbook-protocol.ts";
import { writeWord } from "./write/write-word.ts";
import { writeWorkbook } from "./write/write-workbook.ts";

const maxCsvBytes = 50 * 2 ** 20;

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const input = z.strictObject({
  path: z
    .string()
    .regex(/\.(?:docx|pdf|html|xlsx)$/i, "ends in .docx, .pdf, .html or .xlsx")
    .describe("Ends in .docx, .pdf, .html or .xlsx."),
  title: z.string().min(1).max(300).optional(),
  markdown: z
    .string()
    .min(1)
    .optional()
    .describe("The content, except of .xlsx. Pictures by path: ![Sales](sales.png){width=60%}; \\newpage ends a page."),
  sheets: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[^[\]\\/?*:]{1,31}$/, "1 to 31 characters without [ ] \\ / ? * :"),
        rows: z.array(z.array(cell)).min(1).optional(),
        csv: z.string().min(1).optional(),
        formats: z.record(z.string().regex(/^[A-Z]{1,3}(?:[1-9]\d{0,6})?$/), z.string().max(100)).default({}),
        charts: z.array(sheetChart).max(20).optional(),
      }),
    )
    .min(1)
    .max(50)
    .optional()
    .describe(
      'Of .xlsx: [{"name", "rows": [["Day", "EUR"], ["2026-03-01", 2], ["Sum", "=SUM(B2:B2)"]] or "csv": a file, "formats": {"B": "#,##0.00", "B9": "0%"}, "charts": [{"kind": "column", "title": "Sales", "x": "A2:A13", "y": ["B2:B13"], "xTitle": "Month", "yTitle": "EUR"}]}]; beside each y stands its name. Texts such as "2026-03-01 14:30", "12 %" and "1,234.50 €" become dates and numbers, shown so.',
    ),
  language: z.string().min(2).max(20).default("en"),
});
type Input = z.output<typeof input>;

const description = `Writes .docx, .pdf or .html from Markdown, .xlsx from sheets with formulas, number formats and charts of their cells; reads .docx and .xlsx back, shows pages of what it wrote.
In Markdown a code block named vega-lite with data.values in its spec becomes a chart.`;

/** What writing documents needs: without a browser there is no PDF. */
export type WriteDocumentDeps = { readonly browser: Printer };

/**
 * The `write_document` tool. What it writes loads and runs nothing when it is opened; what it wrote
 * is read back, and shown where it can be drawn.
 */
export function writeDocument(deps: WriteDocumentDeps): Tool {
  const written = new WeakMap<Workspace, Set<string>>();
  return defineTool({
    name: "write_document",
    family: "documents",
    description: description.replaceAll("\n", " "),
    input,
    effect: "idempotent",
    brings: [],
    edits: ({ path }) => [path],
    neededFor: asksForDocuments,
    async run(asked, context) {
      const own = written.get(context.workspace) ?? new Set();
      const isOthers = !own.has(asked.path) && (await isThere(context.workspace, asked.path));
      const result = await writeAs(extname(asked.path).toLowerCase(), asked, deps, context);
      written.set(context.workspace, own.add(asked.path));
      return isOthers ? { ...result, text: `${result.text} ${replaced}` } : result;
    },
  });
}

/** A model may take writing for editing. */
const replaced = "It replaced the file that was there, of which nothing is kept.";

async function isThere(workspace: Workspace, path: string): Promise<boolean> {
  try {
    await using file = await openFile(workspace, path);
    return file.stats.size > 0;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

async function writeAs(kind: string, asked: Input, deps: WriteDocumentDeps, context: ToolContext): Promise<ToolResult> {
  if (kind === ".xlsx") return await workbook(asked, deps, context);
  const { path, markdown, title, language } = asked;
  if (markdown === undefined || asked.sheets !== undefined)
    throw new AppError("invalid_input", `For ${kind} give markdown; sheets are for .xlsx.`);
  const composition = { title, markdown, language };
  if (kind === ".docx") return await word(path, composition, deps, context);
  const page = await embeddedPage(composition, context);
  return await printable(path, page, deps, context);
}

async function workbook(
  { path, sheets, markdown }: Input,
  { browser }: WriteDocumentDeps,
  context: ToolContext,
): Promise<ToolResult> {
  if (sheets === undefined || markdown !== undefined)
    throw new AppError("invalid_input", "For .xlsx give sheets; markdown is for the other formats.");
  const names = new Set(sheets.map(({ name }) => name.toLowerCase()));
  if (names.size < sheets.length) throw new AppError("invalid_input", "Two sheets have the same name.");
  const toWrite: WorkbookRequest["sheets"] = [];
  let left = maxCsvBytes;
  for (const { rows, csv, ...sheet } of sheets) {
    if ((rows === undefined) === (csv === undefined))
      throw new AppError("invalid_input", `The sheet ${JSON.stringify(sheet.name)} needs either rows or csv.`);
    if (csv === undefined) toWrite.push({ ...sheet, rows: rows ?? [] });
    else {
      const text = await csvText(context.workspace, csv, left);
      left -= Buffer.byteLength(text);
      toWrite.push({ ...sheet, csv: text, path: csv });
    }
  }
  const isDrawn = browser !== undefined && context.vision !== false;
  const { content, told, page } = await writeWorkbook({ sheets: toWrite, page: isDrawn }, context.signal);
  await saveFile(context.workspace, path, content);
  const look = await lookAtPage(() => page, sheetPageShows, browser, context);
  const text = `Written and read back: ${path}, ${told}`;
  // The cells of a CSV file may be anybody's.
  const isOwn = toWrite.every((sheet) => "rows" in sheet) || look.images.length === 0;
  return { ...withLook(text, look), ...(!isOwn && { takenIn: ["file"] }) };
}

/** The text of a CSV file, which may have at most `left` bytes. */
async function csvText(workspace: Workspace, path: string, left: number): Promise<string> {
  await using file = await openFile(workspace, path);
  const content = await file.read(left);
  if (content !== undefined) return content.toString("utf8");
  throw new AppError(
    "too_large",
    left < maxCsvBytes ? "The CSV files are larger than 50 MB together." : `${path} is larger than 50 MB.`,
  );
}

type Composition = Parameters<typeof embeddedBody>[0];

async function word(
  path: string,
  composition: Composition,
  { browser }: WriteDocumentDeps,
  context: ToolContext,
): Promise<ToolResult> {
  const { title } = composition;
  const html = await embeddedBody(composition, context, "png");
  const content = await writeWord({ html, ...(title !== undefined && { title }) }, context.signal);
  const { told, page } = await readBackWord(html, content, context.signal);
  await saveFile(context.workspace, path, content);
  const look = await lookAtPage(() => page, wordPageShows, browser, context);
  const printed = look.about === undefined ? "" : `; printed here: ${look.about}`;
  return withLook(`Written and read back: ${path}, ${told}${printed}.`, look);
}

const wordPageShows =
  "of its content as read back and printed here; alignment, styles, fonts, sizes and pages as Word makes them may differ";

async function printable(
  path: string,
  page: string,
  { browser }: WriteDocumentDeps,
  context: ToolContext,
): Promise<ToolResult> {
  const { workspace, signal } = context;
  if (!path.toLowerCase().endsWith(".pdf")) {
    await saveFile(workspace, path, Buffer.from(page));
    const look = await lookAtPage(() => page, "as printed", browser, context);
    return withLook(`Written: ${path} (HTML${look.about === undefined ? "" : `, printed ${look.about}`}).`, look);
  }
  if (browser === undefined)
    throw new AppError("unavailable", "There is no browser here that prints a PDF; write .docx or .html.");
  const printed = await printPage(page, browser, signal);
  await saveFile(workspace, path, printed);
  const look = await lookAtPdf(printed, "as printed", context);
  return withLook(`Written: ${path} (${look.about ?? "PDF"}).`, look);
}

function withLook(text: string, { told, images }: Look): ToolResult {
  return { text: `${text} ${told}`, isError: false, ...(images.length > 0 && { images }) };
}
