import mammoth from "mammoth";
import { oneText } from "../fit-pieces.ts";
import { htmlMarkdown } from "../html-markdown.ts";
import type { Reading } from "../reading.ts";
import { fitsInMemory, type OfficeFile } from "./office-file.ts";

/**
 * A Word document (.docx) as Markdown: headings, lists, tables, footnotes, comments; of tracked
 * changes what they lead to. Nothing it refers to is loaded, no macro is run.
 */
export async function readWord({ bytes, zip }: OfficeFile): Promise<Reading> {
  fitsInMemory(zip);
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
    {
      externalFileAccess: false,
      styleMap: ["comment-reference => sup"],
      convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
    },
  );
  return oneText("Word document", htmlMarkdown(value));
}
