import { type Inline, parseInline } from "./parse-inline.ts";

/** How a column of a table is aligned. */
export type Align = "start" | "center" | "end";

/** An entry of a list; one of a list of tasks is done, or not. */
export type Item = { readonly done?: boolean; readonly blocks: readonly Block[] };

/** A block of a text. */
export type Block =
  | { readonly type: "heading"; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly type: "paragraph"; readonly inline: readonly Inline[] }
  | { readonly type: "quote"; readonly blocks: readonly Block[] }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "list"; readonly start?: number; readonly items: readonly Item[] }
  | {
      readonly type: "table";
      readonly align: readonly Align[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly type: "rule" };

/** Blocks within blocks are read so deep. */
const maxDepth = 10;

/**
 * Reads as much of Markdown as answers need: headings, lists in lists, tasks, quotes, tables, code,
 * emphasis, links to http and https addresses. It makes data, no HTML: what is not known stays
 * text, and an image becomes a link, since showing it would fetch it.
 */
export function parseMarkdown(text: string): Block[] {
  return blocksOf(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function blocksOf(all: readonly string[], depth: number): Block[] {
  const lines: Lines = { all, at: 0, depth };
  const blocks: Block[] = [];
  for (let first = peek(lines); first !== undefined; first = peek(lines)) {
    const block = (readerOf(first, lines)?.take ?? paragraph)(lines);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

/** The lines of a text, read from the one at `at` on. */
type Lines = { readonly all: readonly string[]; at: number; readonly depth: number };

const peek = ({ all, at }: Lines, further = 0): string | undefined => all[at + further];
const next = (lines: Lines): string => lines.all[lines.at++] ?? "";

const fence = /^(\s*)(`{3,}|~{3,})/;
const heading = /^\s{0,3}(#{1,6})\s+(.*)$/;
const marker = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$/;
const quote = /^\s*>\s?(.*)$/;
const row = /^\s*\|(.*)\|\s*$/;
const delimiter = /^[\s|:-]+$/;
const blank = /^\s*$/;
const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/;

type Reader = { starts(line: string, lines: Lines): boolean; take(lines: Lines): Block | undefined };

/** The kinds of block, each with what its first line looks like. */
const readers: readonly Reader[] = [
  { starts: (line) => blank.test(line), take: (lines) => void next(lines) },
  { starts: (line) => fence.test(line), take: codeBlock },
  {
    starts: (line) => heading.test(line),
    take(lines) {
      const [, marks = "#", title = ""] = heading.exec(next(lines)) ?? [];
      return { type: "heading", level: marks.length, inline: parseInline(title.replace(/(?<!#)#+$/, "").trimEnd()) };
    },
  },
  {
    starts: (line) => rule.test(line),
    take(lines) {
      next(lines);
      return { type: "rule" };
    },
  },
  { starts: (line, { depth }) => depth < maxDepth && marker.test(line), take: list },
  { starts: (line, { depth }) => depth < maxDepth && quote.test(line), take: quoted },
  { starts: (line, lines) => row.test(line) || isBareTable(line, peek(lines, 1)), take: table },
];

const readerOf = (line: string, lines: Lines): Reader | undefined => readers.find(({ starts }) => starts(line, lines));

/** A table without bars at its edges begins with its header and the line below it. */
const isBareTable = (line: string, below = ""): boolean =>
  line.includes("|") && isDelimiter(below) && below.includes("|");

const isDelimiter = (line: string): boolean => line.includes("-") && delimiter.test(line);

/** Code keeps its lines as they are, without the indentation of the list that it is in. */
function codeBlock(lines: Lines): Block {
  const [, indent = "", mark = "```"] = fence.exec(next(lines)) ?? [];
  const inside: string[] = [];
  while (peek(lines)?.trim().startsWith(mark) === false) inside.push(outdented(next(lines), indent.length));
  lines.at++;
  return { type: "code", text: inside.join("\n") };
}

function quoted(lines: Lines): Block {
  const inside: string[] = [];
  for (let found = quote.exec(peek(lines) ?? ""); found !== null; found = quote.exec(peek(lines) ?? "")) {
    inside.push(found[1] ?? "");
    lines.at++;
  }
  return { type: "quote", blocks: blocksOf(inside, lines.depth + 1) };
}

const isNumber = (mark: string): boolean => mark.length > 1;

/** What a list's entry begins with. */
function markOf(line: string | undefined): { indent: number; mark: string; width: number; text: string } | undefined {
  const [, space, mark = "", gap = "", text = ""] = marker.exec(line ?? "") ?? [];
  if (space === undefined || rule.test(line ?? "")) return undefined;
  const indent = widthOf(space);
  return { indent, mark, width: indent + mark.length + Math.min(gap.length, 4), text };
}

function list(lines: Lines): Block {
  const first = markOf(peek(lines));
  const items: Item[] = [];
  for (let mark = first; mark !== undefined && first !== undefined; mark = markOf(peek(lines))) {
    if (mark.indent > first.indent + 1 || isNumber(mark.mark) !== isNumber(first.mark)) break;
    items.push(item(lines, mark));
  }
  return { type: "list", ...(first && isNumber(first.mark) && { start: Number.parseInt(first.mark, 10) }), items };
}

/** An entry has the lines that are indented below it, and those that go on with its sentence. */
function item(lines: Lines, { indent, width, text }: { indent: number; width: number; text: string }): Item {
  next(lines);
  const [, box, rest] = /^\[([ xX])\]\s+(.*)$/.exec(text) ?? [];
  const inside = [rest ?? text];
  for (let line = peek(lines); line !== undefined; line = peek(lines)) {
    const deep = widthOf(/^\s*/.exec(line)?.[0] ?? "");
    if (blank.test(line)) {
      if (!goesOnAfter(lines, indent)) break;
      while (blank.test(peek(lines) ?? "-")) inside.push(next(lines));
    } else if (deep < indent + 2 && (blank.test(inside.at(-1) ?? "") || readerOf(line, lines) !== undefined)) break;
    else inside.push(outdented(next(lines), Math.min(deep, width)));
  }
  return { ...(box !== undefined && { done: box !== " " }), blocks: blocksOf(inside, lines.depth + 1) };
}

/** Whether the list goes on after blank lines: with what is indented, or with its next entry. */
function goesOnAfter({ all, at }: Lines, indent: number): boolean {
  let after = at;
  while (after < all.length && blank.test(all[after] ?? "")) after++;
  const line = all[after];
  if (line === undefined) return false;
  const mark = markOf(line);
  return widthOf(/^\s*/.exec(line)?.[0] ?? "") >= indent + 2 || (mark !== undefined && mark.indent >= indent);
}

/** A tab stands for four spaces. */
const widthOf = (space: string): number => space.replaceAll("\t", "    ").length;

function outdented(line: string, by: number): string {
  const space = /^\s*/.exec(line)?.[0] ?? "";
  return " ".repeat(Math.max(0, widthOf(space) - by)) + line.slice(space.length);
}

function table(lines: Lines): Block {
  const hasEdges = row.test(peek(lines) ?? "");
  const rows: string[][] = [];
  let align: readonly Align[] = [];
  for (let line = peek(lines); line !== undefined; line = peek(lines)) {
    if (hasEdges ? !row.test(line) : !line.includes("|")) break;
    next(lines);
    const cells = cellsOf(line);
    if (rows.length === 1 && align.length === 0 && isDelimiter(line)) align = cells.map(alignOf);
    else rows.push(cells);
  }
  const columns = rows[0]?.length ?? 0;
  const full = rows.map((cells) => [...cells, ...Array<string>(Math.max(0, columns - cells.length)).fill("")]);
  return { type: "table", align, rows: full.map((cells) => cells.map((cell) => parseInline(cell))) };
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

function alignOf(cell: string): Align {
  if (!cell.endsWith(":")) return "start";
  return cell.startsWith(":") ? "center" : "end";
}

/**
 * Within a sentence only a list's first number begins a list: a year at a line's start does not.
 */
const interrupts = (line: string, lines: Lines): boolean =>
  readerOf(line, lines) !== undefined && !/^\s*(?!1[.)])\d+[.)]\s/.test(line);

function paragraph(lines: Lines): Block {
  const own = [next(lines)];
  for (let line = peek(lines); line !== undefined && !interrupts(line, lines); line = peek(lines))
    own.push(next(lines));
  return { type: "paragraph", inline: parseInline(own.map((line) => line.trim()).join("\n")) };
}
