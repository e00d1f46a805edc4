import mammoth from "mammoth";
import { oneMarkdown } from "../fit-pieces.ts";
import { htmlMarkdown } from "../html-markdown.ts";
import type { Reading, Scans } from "../reading.ts";
import { parseXml, type XmlNode, xmlElements } from "../xml.ts";
import { fitsInMemory, type OfficeFile } from "./office-file.ts";
import { pageEdges } from "./page-edges.ts";

/**
 * A Word document (.docx) as Markdown: what stands above and below its pages, headings, lists,
 * tables, footnotes, comments; of tracked changes what they lead to. Nothing it refers to is
 * loaded, no macro is run. With `draw` also as HTML with its pictures.
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
  const text = (await edgesOf(zip)) + htmlMarkdown(value);
  return { ...oneMarkdown("Word document", text), ...(isDrawn && { html: value }) };
}

async function edgesOf(zip: OfficeFile["zip"]): Promise<string> {
  const lines = async (name: RegExp) => {
    const parts = zip.entries.filter(({ path }) => name.test(path)).map(({ path }) => zip.text(path));
    return (await Promise.all(parts)).flatMap((xml) => xmlElements(parseXml(xml ?? "<x/>"), "w:p").map(ownText));
  };
  return pageEdges(await lines(/^word\/header\d*\.xml$/i), await lines(/^word\/footer\d*\.xml$/i));
}

/** What a paragraph says without those in its text boxes, each of which is in it twice. */
function ownText({ childNodes }: XmlNode): string {
  const texts = [...childNodes].map((node) => {
    if (node.nodeName === "w:t") return node.textContent ?? "";
    if (node.nodeName === "w:tab") return " ";
    return node.nodeName === "w:p" ? "" : ownText(node);
  });
  return texts.join("");
}
