import { element } from "./element.js";

/**
 * A text in Markdown as elements of the page.
 *
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdownView(text) {
  return element("div", { class: "markdown" }, parseMarkdown(text).map(blockView));
}

function blockView(block) {
  switch (block.type) {
    case "heading":
      return element(`h${Math.min(block.level + 2, 6)}`, {}, block.inline.map(inlineView));
    case "code":
      return element("pre", {}, element("code", {}, block.text));
    case "list":
      return element(block.ordered ? "ol" : "ul", {}, block.items.map(itemView));
    case "table":
      return element("div", { class: "scroll" }, element("table", {}, block.rows.map(rowView)));
    case "rule":
      return element("hr");
    default:
      return element(block.type === "quote" ? "blockquote" : "p", {}, block.inline.map(inlineView));
  }
}

const itemView = (inline) => element("li", {}, inline.map(inlineView));

function rowView(cells, index) {
  return element(
    "tr",
    {},
    cells.map((inline) => element(index === 0 ? "th" : "td", {}, inline.map(inlineView))),
  );
}

function inlineView(part) {
  switch (part.type) {
    case "link":
      return element(
        "a",
        { href: part.href, title: part.href, rel: "noopener noreferrer", target: "_blank" },
        part.text,
      );
    case "text":
      return part.text;
    default:
      return element(part.type, {}, part.text);
  }
}

/**
 * Reads as much of Markdown as answers need: headings, lists, quotes, tables, code, emphasis, links
 * to http and https addresses. It makes data, no HTML: what is not known stays text, and an image
 * becomes a link, since showing it would fetch it.
 *
 * @typedef {{ type: "text" | "code" | "strong" | "em", text: string } | { type: "link", text:
 * string, href: string }} Inline @typedef {{ type: "heading", level: number, inline: Inline[] } | {
 * type: "paragraph" | "quote", inline: Inline[] } | { type: "code", text: string } | { type:
 * "list", ordered: boolean, items: Inline[][] } | { type: "table", rows: Inline[][][] } | { type:
 * "rule" }} Block
 *
 * @param {string} text @returns {Block[]}
 */
export function parseMarkdown(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  while (lines.length > 0) {
    const read = readers.find(({ starts }) => starts.test(lines[0]));
    const block = read === undefined ? paragraph(lines) : read.take(lines);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

const fence = /^\s*(`{3,}|~{3,})/;
const heading = /^(#{1,6})\s+(.*?)\s*#*$/;
const bullet = /^\s*[-*+]\s+(.*)$/;
const numbered = /^\s*\d{1,9}[.)]\s+(.*)$/;
const quote = /^\s*>\s?(.*)$/;
const row = /^\s*\|(.*)\|\s*$/;
const blank = /^\s*$/;
const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/;

/** The kinds of block, each with what its first line looks like. */
const readers = [
  { starts: blank, take: (lines) => void lines.shift() },
  { starts: fence, take: codeBlock },
  {
    starts: heading,
    take(lines) {
      const [, marks, title] = heading.exec(lines.shift());
      return { type: "heading", level: marks.length, inline: parseInline(title) };
    },
  },
  {
    starts: rule,
    take(lines) {
      lines.shift();
      return { type: "rule" };
    },
  },
  { starts: bullet, take: (lines) => ({ type: "list", ordered: false, items: runOf(lines, bullet).map(parseInline) }) },
  {
    starts: numbered,
    take: (lines) => ({ type: "list", ordered: true, items: runOf(lines, numbered).map(parseInline) }),
  },
  { starts: quote, take: (lines) => ({ type: "quote", inline: parseInline(runOf(lines, quote).join("\n")) }) },
  { starts: row, take: table },
];

/** The captured texts of the lines from the first on that look alike. */
function runOf(lines, pattern) {
  const texts = [];
  while (lines.length > 0 && pattern.test(lines[0])) texts.push(pattern.exec(lines.shift())[1]);
  return texts;
}

function codeBlock(lines) {
  const [, mark] = fence.exec(lines.shift());
  const end = lines.findIndex((line) => line.trim().startsWith(mark));
  const inside = lines.splice(0, end === -1 ? lines.length : end);
  lines.shift();
  return { type: "code", text: inside.join("\n") };
}

function table(lines) {
  const rows = runOf(lines, row).filter((cells) => !/^[\s|:-]+$/.test(cells));
  return { type: "table", rows: rows.map((cells) => cells.split("|").map((cell) => parseInline(cell.trim()))) };
}

function paragraph(lines) {
  const own = [lines.shift()];
  while (lines.length > 0 && !readers.some(({ starts }) => starts.test(lines[0]))) own.push(lines.shift());
  return { type: "paragraph", inline: parseInline(own.join("\n")) };
}

const inlinePattern =
  /`([^`\n]+)`|!?\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})\)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\s][^*\n]*)\*(?!\w)|(https?:\/\/[^\s<>"'`)\]]+)/g;

function parseInline(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(inlinePattern)) {
    if (match.index > at) parts.push({ type: "text", text: text.slice(at, match.index) });
    parts.push(inlineOf(match));
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ type: "text", text: text.slice(at) });
  return parts;
}

function inlineOf([whole, code, label, target, strong, em, address]) {
  if (code !== undefined) return { type: "code", text: code };
  if (strong !== undefined) return { type: "strong", text: strong };
  if (em !== undefined) return { type: "em", text: em };
  const href = webAddress(target ?? address);
  return href === undefined ? { type: "text", text: whole } : { type: "link", text: label || href, href };
}

/** An address that may be a link, as a browser will read it: http or https, nothing else. */
function webAddress(text) {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href;
}
