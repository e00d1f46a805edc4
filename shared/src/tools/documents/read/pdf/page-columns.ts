import type { Cell, TextLine } from "./page-lines.ts";

/** Consecutive lines of a table, and where its columns are. */
export type TableRows = { readonly rows: readonly TextLine[]; readonly columns: readonly Column[] };

/** Whether each cell of a row is under one column, no two under the same. */
export function isUnder({ cells }: TextLine, columns: readonly Column[]): boolean {
  const above = cells.map((cell) => columns.filter((column) => overlap(cell, column) > 0));
  return above.every(({ length }) => length === 1) && new Set(above.flat()).size === cells.length;
}

/** From where to where a column goes. */
export type Column = { left: number; right: number };

/** Where the columns are, by the rows that have a cell in each. */
export function columnsOf(rows: readonly TextLine[]): Column[] {
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
export function inColumns({ cells }: TextLine, columns: readonly Column[]): string[] {
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
