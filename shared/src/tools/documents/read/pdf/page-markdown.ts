import { linesOf, type TextLine, type TextPiece } from "./page-lines.ts";
import { tableAt } from "./page-table.ts";

const headingSize = 1.3;
const titleSize = 1.7;
const longestHeading = 150;
/** How far below a line of a heading its next one is at most, in heights. */
const headingStride = 1.4;
/** What begins another heading: a number, a bullet, the name of a part. */
const itsOwn = /^(?:\d+(?:\.\d+)*[.)]?\s|[ivxlc]+[.)]\s|[a-z][.)]\s|[•▪–—*-]\s|(?:chapter|part|section|appendix)\s)/i;

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
    if (mark !== "") {
      const whole = wholeHeading(lines, at - 1);
      at += whole.lines - 1;
      out.push("", `${mark} ${whole.text}`, "");
    } else out.push(...(isApart ? ["", text] : [text]));
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

/**
 * A heading with the lines that it goes on in: close below, as large, and no heading of their own.
 */
function wholeHeading(lines: readonly TextLine[], at: number): { readonly text: string; readonly lines: number } {
  const first = lines[at];
  let whole = { text: first === undefined ? "" : lineText(first), lines: 1 };
  for (let last = first, next = lines[at + 1]; last !== undefined && next !== undefined; ) {
    const more = lineText(next);
    const down = last.y - next.y;
    const isLine = down > 0 && down <= headingStride * last.height && Math.abs(next.height / last.height - 1) < 0.1;
    const text = `${whole.text}${/\p{L}-$/u.test(whole.text) ? "" : " "}${more}`;
    if (!isLine || itsOwn.test(more) || next.cells.length > 1 || text.length > longestHeading) break;
    whole = { text, lines: whole.lines + 1 };
    [last, next] = [next, lines[at + whole.lines]];
  }
  return whole;
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
