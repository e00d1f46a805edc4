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
  const lines: Lines = { all: text.replaceAll("\r\n", "\n").split("\n"), at: 0 };
  const blocks: Block[] = [];
  for (let first = peek(lines); first !== undefined; first = peek(lines)) {
    const read = readerOf(first);
    const block = read === undefined ? paragraph(lines) : read.take(lines);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

/** The lines of a text, read from the one at `at` on. */
type Lines = { readonly all: readonly string[]; at: number };

const peek = ({ all, at }: Lines): string | undefined => all[at];
const next = (lines: Lines): string => lines.all[lines.at++] ?? "";

const fence = /^\s*(`{3,}|~{3,})/;
const heading = /^(#{1,6})\s+(.*)$/;
const bullet = /^\s*[-*+]\s+(.*)$/;
const numbered = /^\s*\d{1,9}[.)]\s+(.*)$/;
const quote = /^\s*>\s?(.*)$/;
const row = /^\s*\|(.*)\|\s*$/;
const blank = /^\s*$/;
const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/;

type Reader = { readonly starts: RegExp; take(lines: Lines): Block | undefined };

/** The kinds of block, each with what its first line looks like. */
const readers: readonly Reader[] = [
  { starts: blank, take: (lines) => void next(lines) },
  { starts: fence, take: codeBlock },
  {
    starts: heading,
    take(lines) {
      const [, marks = "#", title = ""] = heading.exec(next(lines)) ?? [];
      return { type: "heading", level: marks.length, inline: parseInline(title.replace(/(?<!#)#+$/, "").trimEnd()) };
    },
  },
  {
    starts: rule,
    take(lines) {
      next(lines);
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

const readerOf = (line: string): Reader | undefined => readers.find(({ starts }) => starts.test(line));

/** The captured texts of the lines from the first on that look alike. */
function runOf(lines: Lines, pattern: RegExp): string[] {
  const texts: string[] = [];
  for (let found = pattern.exec(peek(lines) ?? ""); found !== null; found = pattern.exec(peek(lines) ?? "")) {
    texts.push(found[1] ?? "");
    lines.at++;
  }
  return texts;
}

function codeBlock(lines: Lines): Block {
  const [, mark = "```"] = fence.exec(next(lines)) ?? [];
  const inside: string[] = [];
  while (peek(lines)?.trim().startsWith(mark) === false) inside.push(next(lines));
  lines.at++;
  return { type: "code", text: inside.join("\n") };
}

function table(lines: Lines): Block {
  const rows = runOf(lines, row).filter((cells) => !/^[\s|:-]+$/.test(cells));
  return { type: "table", rows: rows.map((cells) => cells.split("|").map((cell) => parseInline(cell.trim()))) };
}

function paragraph(lines: Lines): Block {
  const own = [next(lines)];
  for (let line = peek(lines); line !== undefined && readerOf(line) === undefined; line = peek(lines))
    own.push(next(lines));
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
