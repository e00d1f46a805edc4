import { resolve } from "node:path";

/**
 * A fenced block of a guide: the word after its fence, its text, and the line (from 1) of its
 * fence.
 */
export type Block = { readonly language: string; readonly text: string; readonly line: number };

/** The text of a page in `docs/reference`. */
export function readGuide(name: string): Promise<string> {
  return Bun.file(resolve(import.meta.dir, "../../docs/reference", name)).text();
}

/** The fenced blocks of a Markdown text, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; lines: string[]; line: number } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^```(\w*)\s*$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) open = { language: fence[1] ?? "", lines: [], line: index + 1 };
    else {
      blocks.push({ language: open.language, text: open.lines.join("\n"), line: open.line });
      open = undefined;
    }
  }
  return blocks;
}

/** The cells of every table row, header and rule rows left out. */
export function rowsOf(markdown: string): string[][] {
  const lines = markdown.split("\n");
  const isRule = (line: string | undefined) => line !== undefined && /^\|[\s|:-]+\|$/.test(line);
  return lines
    .filter((line, index) => line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** The text between backticks in a cell. */
export function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]*)`/g)].map((match) => match[1] ?? "");
}
