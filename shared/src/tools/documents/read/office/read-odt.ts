import { oneMarkdown } from "../fit-pieces.ts";
import { htmlMarkdown } from "../html-markdown.ts";
import type { Reading } from "../reading.ts";
import { parseXml, type XmlNode, xmlAttribute, xmlElements } from "../xml.ts";
import { fitsInMemory, type OfficeFile } from "./office-file.ts";
import { pageEdges } from "./page-edges.ts";

/**
 * A text document in OpenDocument's format (.odt) as Markdown: what stands above and below its
 * pages, headings, lists, tables, footnotes, comments; of tracked changes what they lead to.
 * Nothing it refers to is loaded.
 */
export async function readOdt({ zip }: OfficeFile): Promise<Reading> {
  fitsInMemory(zip);
  const content = parseXml((await zip.text("content.xml")) ?? "<x/>");
  const styles = parseXml((await zip.text("styles.xml")) ?? "<x/>");
  const edges = pageEdges(edgeTexts(styles, "style:header"), edgeTexts(styles, "style:footer"));
  const text = edges + htmlMarkdown(xmlElements(content, "office:text").map(inside).join(""));
  return oneMarkdown("OpenDocument text", text);
}

function edgeTexts(styles: XmlNode, edge: string): string[] {
  const edges = [edge, `${edge}-first`, `${edge}-left`].flatMap((name) => xmlElements(styles, name));
  return edges.flatMap((one) => xmlElements(one, "text:p")).map(({ textContent }) => textContent ?? "");
}

/** The elements of HTML that mean the same. */
const sameAs: Readonly<Record<string, string>> = {
  "text:p": "p",
  "text:list": "ul",
  "text:list-item": "li",
  "table:table": "table",
  "table:table-row": "tr",
};

/** What an author deleted, and definitions that nobody reads. */
const unread = ["text:tracked-changes", "text:sequence-decls", "office:forms", "text:note-citation", "dc:date"];

function inside(node: XmlNode): string {
  return [...node.childNodes].map(htmlOf).join("");
}

function htmlOf(node: XmlNode): string {
  const { nodeName } = node;
  if (nodeName === "#text") return Bun.escapeHTML(node.textContent ?? "");
  if (unread.includes(nodeName)) return "";
  const tag = sameAs[nodeName];
  if (tag !== undefined) return `<${tag}>${inside(node)}</${tag}>`;
  switch (nodeName) {
    case "text:h": {
      const level = Math.min(6, Math.max(1, Number(xmlAttribute(node, "text:outline-level")) || 1));
      return `<h${level}>${inside(node)}</h${level}>`;
    }
    case "table:table-cell":
    case "table:covered-table-cell":
      return cellHtml(node);
    case "text:s":
    case "text:tab":
      return " ";
    case "text:line-break":
      return "<br>";
    case "text:a":
      return `<a href="${Bun.escapeHTML(xmlAttribute(node, "xlink:href"))}">${inside(node)}</a>`;
    case "text:note":
      return ` (note: ${wordsOf(node)})`;
    case "office:annotation":
      return ` (comment: ${wordsOf(node)})`;
    case "draw:frame":
      return frameHtml(node);
    default:
      return inside(node);
  }
}

const maxRepeated = 50;

/** An empty cell may stand for thousands to the right of the table. */
function cellHtml(cell: XmlNode): string {
  const words = inside(cell);
  const times = Math.min(maxRepeated, Number(xmlAttribute(cell, "table:number-columns-repeated")) || 1);
  return words === "" && times === maxRepeated ? "" : `<td>${words}</td>`.repeat(times);
}

/** What a note or a comment says, without its mark. */
function wordsOf(node: XmlNode): string {
  const paragraphs = xmlElements(node, "text:p").map((paragraph) => (paragraph.textContent ?? "").trim());
  return Bun.escapeHTML(paragraphs.join(" "));
}

/** A text box says something; a picture has a description at most. */
function frameHtml(frame: XmlNode): string {
  if (xmlElements(frame, "draw:text-box").length > 0) return inside(frame);
  const [about] = [...xmlElements(frame, "svg:desc"), ...xmlElements(frame, "svg:title")];
  return `<img alt="${Bun.escapeHTML(about?.textContent ?? "")}">`;
}
