import { parseHTML } from "linkedom";
import Turndown from "turndown";
import { removeHidden } from "../../page/remove-hidden.ts";
import { markdownTable } from "./markdown-table.ts";

/** The nodes that the conversion looks at: `linkedom` has them without the DOM's types. */
type Node = { readonly childNodes: Iterable<Node>; readonly nodeName: string; readonly textContent: string | null };
type Element = Node & { getAttribute(name: string): string | null };

/**
 * All of an HTML document as Markdown, without what nobody would see, without scripts and styles.
 * Pictures become their descriptions, links within the document their text.
 */
export function htmlMarkdown(html: string): string {
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`);
  removeHidden(document);
  return converter()
    .turndown(document.body as unknown as Turndown.Node)
    .trim();
}

function converter(): Turndown {
  const turndown = new Turndown({
    headingStyle: "atx",
    bulletListMarker: "-",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
  });
  // It is read, not rendered: a date or a name stays as it is written.
  turndown.escape = (text) => text.replace(/^#{1,6} /, "\\$&");
  turndown.remove(["script", "style", "noscript", "iframe", "object", "template", "title", "head"] as never);
  const rule = (filter: string, replacement: (content: string, node: Element) => string) =>
    turndown.addRule(filter, {
      filter: filter as never,
      replacement: (content, node) => replacement(content, node as unknown as Element),
    });
  rule("img", (_, node) => {
    const alt = node.getAttribute("alt")?.trim() ?? "";
    return alt === "" ? "[picture]" : `[picture: ${alt}]`;
  });
  rule("a", (content, node) => {
    const target = node.getAttribute("href") ?? "";
    return /^(?:https?|mailto):/i.test(target) && content.trim() !== "" ? `[${content}](${target})` : content;
  });
  rule("li", (content, node) => {
    const list = (node as unknown as { parentNode: Element }).parentNode;
    const items = [...list.childNodes].filter(({ nodeName }) => nodeName === "LI");
    const start = Number.parseInt(list.getAttribute("start") ?? "", 10);
    const first = Number.isNaN(start) ? 1 : start;
    const mark = list.nodeName === "OL" ? `${first + items.indexOf(node)}. ` : "- ";
    return `${mark}${content.trim().replaceAll("\n", `\n${" ".repeat(mark.length)}`)}\n`;
  });
  rule("table", (_, node) => `\n\n${markdownTable(tableRows(node))}\n\n`);
  return turndown;
}

/**
 * The texts of a table's cells. What a merged cell covers is empty, so that the cells beside it
 * keep their columns; no row gets wider by it than the one with the most cells.
 */
function tableRows(table: Element): string[][] {
  const rows = elementsIn(table, "TR").map((row) => [...row.childNodes].filter(isCell));
  const width = Math.max(0, ...rows.map(({ length }) => length));
  /** Of each column, how many rows a cell above still covers. */
  const covered = new Array<number>(width).fill(0);
  return rows.map((cells) => {
    let spare = width - cells.length - covered.filter((rest) => rest > 0).length;
    const texts: string[] = [];
    const skipCovered = () => {
      for (; (covered[texts.length] ?? 0) > 0; texts.push("")) covered[texts.length] = (covered[texts.length] ?? 0) - 1;
    };
    for (const cell of cells) {
      skipCovered();
      const more = Math.max(0, Math.min(spare, spanOf(cell, "colspan") - 1));
      spare -= more;
      const rest = spanOf(cell, "rowspan") - 1;
      covered.fill(rest, texts.length, texts.length + 1 + more);
      texts.push(cellText(cell), ...new Array<string>(more).fill(""));
    }
    skipCovered();
    return texts;
  });
}

function spanOf(cell: Element, name: string): number {
  return Number.parseInt(cell.getAttribute(name) ?? "", 10) || 1;
}

function isCell(node: Node): node is Element {
  return node.nodeName === "TD" || node.nodeName === "TH";
}

/** The elements of a name below a node, without those in tables inside it. */
function elementsIn(node: Node, name: string): Element[] {
  return [...node.childNodes].flatMap((child) => {
    if (child.nodeName === name) return [child as Element];
    return child.nodeName === "TABLE" ? [] : elementsIn(child, name);
  });
}

function cellText(cell: Element): string {
  const parts = [...cell.childNodes].map(({ textContent }) => textContent?.trim() ?? "");
  return parts.filter((part) => part !== "").join(" ");
}
