import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { saveFile } from "../../machine/workspace/save-file.ts";
import { embeddedPage } from "../documents/write/embedded-page.ts";

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
    async run({ title, markdown, path, language }, { workspace, signal }) {
      const page = await embeddedPage({ title, markdown, language }, { workspace, signal });
      await saveFile(workspace, `${path}.md`, Buffer.from(`# ${title}\n\n${markdown.trimEnd()}\n`));
      await saveFile(workspace, `${path}.html`, Buffer.from(page));
      return `Written: ${path}.md and ${path}.html.`;
    },
  });
}
