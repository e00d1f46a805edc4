import { linesOf, type TextLine, type TextPiece } from "./page-lines.ts";
import { tableAt } from "./page-table.ts";

const headingSize = 1.3;
const titleSize = 1.7;
const longestHeading = 150;

/**
 * A page's text as Markdown, in the order it was written in: large short lines as headings, lines
 * whose gaps are aligned as tables, a blank line where the lines are further apart.
 */
export function pageMarkdown(pieces: readonly TextPiece[]): string {
  const lines = linesOf(pieces);
  const usual = usualHeight(lines);
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const table = tableAt(lines, at);
    if (table !== undefined) {
      out.push("", table.markdown, "");
      at += table.lines;
      continue;
    }
    const [line, before] = [lines[at], lines[at - 1]];
    at++;
    if (line === undefined) continue;
    const isApart = before !== undefined && isNewParagraph(before, line);
    const text = lineText(line);
    const mark = text.length > longestHeading ? "" : headingMark(line.height / usual);
    if (mark !== "") out.push("", `${mark} ${text}`, "");
    else out.push(...(isApart ? ["", text] : [text]));
  }
  return out
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** Whether a line is further down than the next would be, or up again: in another column. */
function isNewParagraph(before: TextLine, line: TextLine): boolean {
  const down = before.y - line.y;
  const height = Math.max(line.height, before.height);
  return down > 1.6 * height || down < -0.5 * height;
}

function headingMark(size: number): string {
  if (size >= titleSize) return "#";
  return size >= headingSize ? "##" : "";
}

function lineText({ cells }: TextLine): string {
  return cells.map(({ text }) => text.trim()).join("  ");
}

/** The height that most of the text has. */
function usualHeight(lines: readonly TextLine[]): number {
  const letters = new Map<number, number>();
  for (const line of lines) {
    const height = Math.round(line.height);
    letters.set(height, (letters.get(height) ?? 0) + lineText(line).length);
  }
  const [most] = [...letters].toSorted(([, one], [, other]) => other - one);
  return Math.max(1, most?.[0] ?? 1);
}
