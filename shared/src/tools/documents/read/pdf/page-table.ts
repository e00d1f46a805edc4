import { markdownTable } from "../markdown-table.ts";
import type { Cell, TextLine } from "./page-lines.ts";

/** A table of fewer rows is a line with a gap. */
const fewestRows = 2;
/** Lines further apart than this, in heights of the text, belong to different tables. */
const mostApart = 3.5;

/**
 * The table that begins with this line, and how many lines it takes; undefined if there is none:
 * consecutive lines with several cells, half of them with as many as the widest, or the first with
 * more than the others, each of whose cells is under one of its own.
 */
export function tableAt(
  lines: readonly TextLine[],
  start: number,
): { readonly markdown: string; readonly lines: number } | undefined {
  let end = start;
  for (; end < lines.length; end++) {
    const [line, before] = [lines[end], lines[end - 1]];
    if (line === undefined || line.cells.length < 2) break;
    if (end > start && before !== undefined && !follows(before, line)) break;
  }
  const rows = lines.slice(start, end);
  const widest = rows.toSorted((one, other) => other.cells.length - one.cells.length)[0];
  if (rows.length < fewestRows || widest === undefined) return undefined;
  const full = rows.filter(({ cells }) => cells.length === widest.cells.length);
  const columns = columnsOf(full);
  const others = rows.slice(1);
  const isHeaded = full.length === 1 && widest === rows[0] && others.every((row) => isUnder(row, columns));
  if (full.length * 2 < rows.length && !isHeaded) return undefined;
  return { markdown: markdownTable(rows.map((row) => inColumns(row, columns))), lines: rows.length };
}

function follows(before: TextLine, line: TextLine): boolean {
  const apart = before.y - line.y;
  return apart > 0 && apart < mostApart * Math.max(before.height, line.height);
}

/** Whether each cell of a row is under one column, no two under the same. */
function isUnder({ cells }: TextLine, columns: readonly Column[]): boolean {
  const above = cells.map((cell) => columns.filter((column) => overlap(cell, column) > 0));
  return above.every(({ length }) => length === 1) && new Set(above.flat()).size === cells.length;
}

type Column = { left: number; right: number };

/** Where the columns are, by the rows that have a cell in each. */
function columnsOf(rows: readonly TextLine[]): Column[] {
  const columns: Column[] = [];
  for (const { cells } of rows)
    for (const [at, { left, right }] of cells.entries()) {
      const column = columns[at];
      if (column === undefined) columns.push({ left, right });
      else columns[at] = { left: Math.min(column.left, left), right: Math.max(column.right, right) };
    }
  return columns;
}

/** The texts of a row by column: each cell in the column that it shares most of its width with. */
function inColumns({ cells }: TextLine, columns: readonly Column[]): string[] {
  if (cells.length === columns.length) return cells.map(({ text }) => text);
  const texts = columns.map(() => "");
  for (const cell of cells) {
    const shared = columns.map((column) => overlap(cell, column));
    const at = shared.indexOf(Math.max(...shared));
    texts[at] = texts[at] === "" ? cell.text : `${texts[at]} ${cell.text}`;
  }
  return texts;
}

/** How much they share; negative by how far they are apart. */
function overlap(cell: Pick<Cell, "left" | "right">, column: Column): number {
  return Math.min(cell.right, column.right) - Math.max(cell.left, column.left);
}
