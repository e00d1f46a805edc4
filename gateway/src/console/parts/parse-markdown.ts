/** A part of a line. */
export type Inline =
  | { readonly type: "text" | "code" | "strong" | "em"; readonly text: string }
  | { readonly type: "link"; readonly text: string; readonly href: string };

/** A block of a text. */
export type Block =
  | { readonly type: "heading"; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly type: "paragraph" | "quote"; readonly inline: readonly Inline[] }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "list"; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly type: "table"; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly type: "rule" };

/**
 * Reads as much of Markdown as answers need: headings, lists, quotes, tables, code, emphasis, links
 * to http and https addresses. It makes data, no HTML: what is not known stays text, and an image
 * becomes a link, since showing it would fetch it.
 */
export function parseMarkdown(text: string): Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  while (lines.length > 0) {
    const first = lines[0] ?? "";
    const read = readers.find(({ starts }) => starts.test(first));
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

type Reader = { readonly starts: RegExp; take(lines: string[]): Block | undefined };

const next = (lines: string[]) => lines.shift() ?? "";

/** The kinds of block, each with what its first line looks like. */
const readers: readonly Reader[] = [
  { starts: blank, take: (lines) => void lines.shift() },
  { starts: fence, take: codeBlock },
  {
    starts: heading,
    take(lines) {
      const [, marks = "#", title = ""] = heading.exec(next(lines)) ?? [];
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
function runOf(lines: string[], pattern: RegExp): string[] {
  const texts: string[] = [];
  while (lines.length > 0 && pattern.test(lines[0] ?? "")) texts.push(pattern.exec(next(lines))?.[1] ?? "");
  return texts;
}

function codeBlock(lines: string[]): Block {
  const [, mark = "```"] = fence.exec(next(lines)) ?? [];
  const end = lines.findIndex((line) => line.trim().startsWith(mark));
  const inside = lines.splice(0, end === -1 ? lines.length : end);
  lines.shift();
  return { type: "code", text: inside.join("\n") };
}

function table(lines: string[]): Block {
  const rows = runOf(lines, row).filter((cells) => !/^[\s|:-]+$/.test(cells));
  return { type: "table", rows: rows.map((cells) => cells.split("|").map((cell) => parseInline(cell.trim()))) };
}

function paragraph(lines: string[]): Block {
  const own = [next(lines)];
  while (lines.length > 0 && !readers.some(({ starts }) => starts.test(lines[0] ?? ""))) own.push(next(lines));
  return { type: "paragraph", inline: parseInline(own.join("\n")) };
}

const inlinePattern =
  /`([^`\n]+)`|!?\[([^\]\n]{0,300})\]\(([^)\s]{1,2000})\)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\s][^*\n]*)\*(?!\w)|(https?:\/\/[^\s<>"'`)\]]+)/g;

function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const match of text.matchAll(inlinePattern)) {
    if (match.index > at) parts.push({ type: "text", text: text.slice(at, match.index) });
    parts.push(inlineOf(match));
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push({ type: "text", text: text.slice(at) });
  return parts;
}

function inlineOf([whole, code, label, target, strong, em, given]: RegExpMatchArray): Inline {
  if (code !== undefined) return { type: "code", text: code };
  if (strong !== undefined) return { type: "strong", text: strong };
  if (em !== undefined) return { type: "em", text: em };
  const href = webAddress(target ?? given ?? "");
  return href === undefined ? { type: "text", text: whole } : { type: "link", text: label || href, href };
}

/** An address that may be a link, as a browser will read it: http or https, nothing else. */
function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href;
}
