import { posix } from "node:path";
import { counted } from "../../../core/text/counted.ts";
import { percentDecoded } from "../../../core/text/percent-decoded.ts";
import { htmlMarkdown } from "./html-markdown.ts";
import { numberRange } from "./number-range.ts";
import { fitsInMemory, type OfficeFile } from "./office/office-file.ts";
import { firstHeadings, outlineText } from "./outline.ts";
import type { DocumentPiece, Reading } from "./reading.ts";
import { parseXml, xmlAttribute, xmlElements } from "./xml.ts";

/** A book (.epub), chapter by chapter in the order of its spine. */
export async function readBook({ zip }: OfficeFile, part: string | undefined): Promise<Reading> {
  fitsInMemory(zip);
  const container = parseXml((await zip.text("META-INF/container.xml")) ?? "<x/>");
  const place = xmlAttribute(xmlElements(container, "rootfile")[0], "full-path");
  const book = parseXml((await zip.text(place)) ?? "<x/>");
  const files = new Map(
    [...xmlElements(book, "item"), ...xmlElements(book, "opf:item")].map((item) => [
      xmlAttribute(item, "id"),
      posix.join(posix.dirname(place), percentDecoded(xmlAttribute(item, "href"))),
    ]),
  );
  const spine = [...xmlElements(book, "itemref"), ...xmlElements(book, "opf:itemref")];
  const chapters = spine.flatMap((item) => files.get(xmlAttribute(item, "idref")) ?? []);
  const title = xmlElements(book, "dc:title")[0]?.textContent?.trim() ?? "";
  const { first, last } = numberRange(part, chapters.length, "chapter");
  async function* pieces(): AsyncGenerator<DocumentPiece> {
    for (let number = first; number <= last; number++) {
      const text = htmlMarkdown((await zip.text(chapters[number - 1] ?? "")) ?? "");
      const head = number === 1 && title !== "" ? `Title: ${title}\n\n` : "";
      const label = `chapter ${number}`;
      yield { label, at: `${number}-${last}`, text: `${head}[${label}]\n${text}\n` };
    }
  }
  const outline = async () => outlineText(await firstHeadings(pieces()));
  const about = `EPUB, ${counted(chapters.length, "chapter")}`;
  return { about, pieces: pieces(), extent: { pieces: last - first + 1, outline } };
}
