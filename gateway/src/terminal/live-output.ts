import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

/** The output of running calls shown so far: the number of lines, and the line still open. */
export type LiveOutput = { readonly lines: number; readonly open: { readonly callId: string; readonly text: string } };

/** Before any output came. */
export const noOutput: LiveOutput = { lines: 0, open: { callId: "", text: "" } };

/** Lines shown of a call's live output; the rest is in its result. */
const lineLimit = 12;
const widestIndent = 24;

type Shown = { readonly output: LiveOutput; readonly shown: string[] };

/** Adds a piece of output, which may end within a line; shows the lines it completes. */
export function addOutput(before: LiveOutput, piece: { callId: string; text: string }, style: Style): Shown {
  const { output, shown } =
    before.open.callId === piece.callId ? { output: before, shown: [] } : endOutput(before, style);
  const pieces = (output.open.text + piece.text).split("\n");
  const open = { callId: piece.callId, text: pieces.pop() ?? "" };
  const more = bounded(output.lines, pieces, style);
  return { output: { lines: more.lines, open }, shown: [...shown, ...more.shown] };
}

/** The output has ended: shows the open line. */
export function endOutput({ lines, open }: LiveOutput, style: Style): Shown {
  const last = bounded(lines, [open.text], style);
  return { output: { lines: last.lines, open: noOutput.open }, shown: last.shown };
}

function bounded(lines: number, pieces: readonly string[], style: Style): { lines: number; shown: string[] } {
  const all = pieces.filter((line) => line.trim() !== "");
  const room = Math.max(0, lineLimit - lines);
  const cut = all.length > room && room > 0 ? [...all.slice(0, room), "… more follows"] : all.slice(0, room);
  return { lines: lines + all.length, shown: markedLines(cut, "│", style) };
}

/** Lines of output, each behind a mark that names their source, with their indentation. */
export function markedLines(written: readonly string[], mark: string, style: Style): string[] {
  return written
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [blanks = ""] = /^[\t ]*/.exec(line) ?? [];
      const indent = blanks.replaceAll("\t", "  ").slice(0, widestIndent);
      const text = safeLine(line, style.columns - mark.length - indent.length - 5);
      return `    ${paint(style, "dim", `${mark} ${indent}${text}`)}`;
    });
}
