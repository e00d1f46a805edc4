/** A piece of text on a page: its left edge, its baseline (upwards), and its size, in points. */
export type TextPiece = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** Pieces of a line that are close to each other, as one. */
export type Cell = { text: string; readonly left: number; right: number };

/** A line of text: one cell, or several where it has wide gaps. */
export type TextLine = { readonly y: number; readonly height: number; readonly cells: readonly Cell[] };

/** A gap this wide, in heights of the text, separates cells; words are a quarter apart. */
const cellGap = 0.85;

/** Joins what follows each other on a baseline. */
export function linesOf(pieces: readonly TextPiece[]): TextLine[] {
  const lines: { y: number; height: number; cells: Cell[] }[] = [];
  for (const { text, x, y, width, height } of pieces) {
    const line = lines.at(-1);
    const last = line?.cells.at(-1);
    const isSame = line !== undefined && Math.abs(line.y - y) <= 0.4 * Math.max(line.height, height, 1);
    if (text.trim() === "") {
      if (isSame && last !== undefined && x - last.right < cellGap * line.height) last.text += " ";
      continue;
    }
    if (!isSame || last === undefined || x < last.left - line.height) {
      lines.push({ y, height, cells: [{ text, left: x, right: x + width }] });
      continue;
    }
    line.height = Math.max(line.height, height);
    const gap = x - last.right;
    if (gap > cellGap * line.height) line.cells.push({ text, left: x, right: x + width });
    else {
      last.text += gap > 0.15 * line.height && !/\s$/.test(last.text) ? ` ${text}` : text;
      last.right = x + width;
    }
  }
  return lines;
}
