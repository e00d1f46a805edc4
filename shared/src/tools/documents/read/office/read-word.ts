import mammoth from "mammoth";
import { oneMarkdown } from "../fit-pieces.ts";
import { htmlMarkdown } from "../html-markdown.ts";
import type { Reading, Scans } from "../reading.ts";
import { fitsInMemory, type OfficeFile } from "./office-file.ts";

/**
 * A Word document (.docx) as Markdown: headings, lists, tables, footnotes, comments; of tracked
 * changes what they lead to. Nothing it refers to is loaded, no macro is run. With `draw` also as
 * HTML with its pictures.
 */
export async function readWord({ bytes, zip }: OfficeFile, scans: Scans): Promise<Reading> {
  fitsInMemory(zip);
  const isDrawn = scans === "draw";
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
    {
      externalFileAccess: false,
      styleMap: ["comment-reference => sup"],
      convertImage: isDrawn ? mammoth.images.dataUri : mammoth.images.imgElement(async () => ({ src: "" })),
    },
  );
  return { ...oneMarkdown("Word document", htmlMarkdown(value)), ...(isDrawn && { html: value }) };
}
