import { posix } from "node:path";
import { counted } from "../../../../core/text/counted.ts";
import { markdownTable } from "../markdown-table.ts";
import { numberRange } from "../number-range.ts";
import { firstHeadings, outlineText } from "../outline.ts";
import type { DocumentPiece, Reading } from "../reading.ts";
import { parseXml, type XmlNode, xmlAttribute, xmlElements } from "../xml.ts";
import type { ZipContent } from "../zip-content.ts";
import { fitsInMemory, type OfficeFile } from "./office-file.ts";

const presentation = "ppt/presentation.xml";

/**
 * A PowerPoint presentation (.pptx): per slide its texts, tables, pictures' descriptions, notes.
 */
export async function readSlides({ zip }: OfficeFile, part: string | undefined): Promise<Reading> {
  fitsInMemory(zip);
  const targets = await relations(zip, presentation);
  const order = xmlElements(parseXml((await zip.text(presentation)) ?? "<x/>"), "p:sldId");
  const slides = order.flatMap((slide) => targets.get(xmlAttribute(slide, "r:id"))?.path ?? []);
  const { first, last } = numberRange(part, slides.length, "slide");
  async function* pieces(): AsyncGenerator<DocumentPiece> {
    for (let number = first; number <= last; number++) {
      const text = await slideText(zip, slides[number - 1] ?? "");
      yield { label: `slide ${number}`, at: `${number}-${last}`, text: `[slide ${number}]\n${text}\n` };
    }
  }
  const outline = async () => outlineText(await firstHeadings(pieces()));
  const about = `PowerPoint presentation, ${counted(slides.length, "slide")} as text; how they look is not drawn here`;
  return { about, pieces: pieces(), extent: { pieces: last - first + 1, outline } };
}

/** What a part of the package refers to, by id. */
async function relations(
  zip: ZipContent,
  path: string,
): Promise<Map<string, { readonly type: string; readonly path: string }>> {
  const file = posix.join(posix.dirname(path), "_rels", `${posix.basename(path)}.rels`);
  const found = xmlElements(parseXml((await zip.text(file)) ?? "<x/>"), "Relationship");
  const inside = found.filter((one) => xmlAttribute(one, "TargetMode") !== "External");
  return new Map(
    inside.map((one) => {
      const target = xmlAttribute(one, "Target");
      const place = target.startsWith("/") ? target.slice(1) : posix.join(posix.dirname(path), target);
      return [xmlAttribute(one, "Id"), { type: posix.basename(xmlAttribute(one, "Type")), path: place }];
    }),
  );
}

async function slideText(zip: ZipContent, path: string): Promise<string> {
  const slide = parseXml((await zip.text(path)) ?? "<x/>");
  const hidden = xmlElements(slide, "p:sld").some((one) => xmlAttribute(one, "show") === "0") ? "(hidden slide)" : "";
  const notes = [...(await relations(zip, path)).values()].find(({ type }) => type === "notesSlide");
  const said = notes === undefined ? [] : shapesOf(parseXml((await zip.text(notes.path)) ?? "<x/>"), false);
  const parts = [hidden, ...shapesOf(slide, true), said.length === 0 ? "" : `Notes: ${said.join("\n")}`];
  return parts.filter((text) => text !== "").join("\n\n");
}

/** What the shapes below a node say, in order. */
function shapesOf(node: XmlNode, isSlide: boolean): string[] {
  return [...node.childNodes].flatMap((child) => {
    if (child.nodeName === "p:sp") return shapeText(child, isSlide);
    if (child.nodeName === "p:pic") return isSlide ? [pictureText(child)] : [];
    if (child.nodeName === "a:tbl") return [tableText(child)];
    return shapesOf(child, isSlide);
  });
}

const numbering = ["sldNum", "dt", "ftr", "hdr"];

function shapeText(shape: XmlNode, isSlide: boolean): string[] {
  const kind = xmlAttribute(xmlElements(shape, "p:ph")[0], "type");
  if (numbering.includes(kind)) return [];
  const lines = xmlElements(shape, "a:p").map(paragraphText);
  const text = lines.filter(({ words }) => words !== "");
  if (text.length === 0) return [];
  if (isSlide && /title/i.test(kind)) return [`## ${text.map(({ words }) => words).join(" ")}`];
  return [text.map(({ words, level }) => (level > 0 ? `${"  ".repeat(level)}- ${words}` : words)).join("\n")];
}

function paragraphText(paragraph: XmlNode): { readonly words: string; readonly level: number } {
  const level = Number(xmlAttribute(xmlElements(paragraph, "a:pPr")[0], "lvl")) || 0;
  return { words: runsText(paragraph).trim(), level: Math.min(level, 8) };
}

function runsText(node: XmlNode): string {
  return [...node.childNodes]
    .map((child) => {
      if (child.nodeName === "a:t") return child.textContent ?? "";
      return child.nodeName === "a:br" ? "\n" : runsText(child);
    })
    .join("");
}

function pictureText(picture: XmlNode): string {
  const about = xmlAttribute(xmlElements(picture, "p:cNvPr")[0], "descr").trim();
  return about === "" ? "[picture]" : `[picture: ${about}]`;
}

function tableText(table: XmlNode): string {
  const cells = (row: XmlNode) => xmlElements(row, "a:tc").map((cell) => paragraphsOf(cell).join("\n"));
  return markdownTable(xmlElements(table, "a:tr").map(cells));
}

function paragraphsOf(node: XmlNode): string[] {
  return xmlElements(node, "a:p").map((paragraph) => runsText(paragraph).trim());
}
