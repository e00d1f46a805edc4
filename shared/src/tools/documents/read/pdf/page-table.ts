import { markdownTable } from "../markdown-table.ts";
import { columnsOf, inColumns, isUnder, type TableRows } from "./page-columns.ts";
import type { TextLine } from "./page-lines.ts";
import { headLines, stackedHead } from "./page-table-head.ts";

/** A table of fewer rows is a line with a gap. */
const fewestRows = 2;
/** Lines further apart than this, in heights of the text, belong to different tables. */
const maxApart = 3.5;
/** Lines of a header that was written column by column. */
const maxStacked = 30;

/** A table as Markdown, and how many lines it takes. */
export type PageTable = { readonly markdown: string; readonly lines: number };

/**
 * The table that begins with this line; undefined if there is none. The lines of its header are one
 * row, whether they were written line by line or column by column.
 */
export function tableAt(lines: readonly TextLine[], start: number): PageTable | undefined {
  const table = rowsAt(lines, start);
  if (table === undefined) return stackedTableAt(lines, start);
  return tableOf(table, headLines(table), table.rows.length);
}

/**
 * The table whose header was written column by column: the lines of each of its cells come one
 * after the other, before the first row.
 */
function stackedTableAt(lines: readonly TextLine[], start: number): PageTable | undefined {
  for (let next = start + 1; next <= start + maxStacked && next < lines.length; next++) {
    const table = rowsAt(lines, next);
    if (table === undefined) continue;
    const above = lines.slice(start, next);
    const head = stackedHead(above, table);
    return head === undefined ? undefined : tableOf(table, head, above.length + table.rows.length);
  }
  return undefined;
}

/** A table of these rows, of which the lines of `head` are the first. */
function tableOf({ rows, columns }: TableRows, head: readonly TextLine[], lines: number): PageTable {
  const texts = head.toSorted((one, other) => other.y - one.y).map((line) => inColumns(line, columns));
  const header = columns.map((_, at) => texts.flatMap((line) => line[at]?.trim() || []).join(" "));
  const body = rows.filter((row) => !head.includes(row)).map((row) => inColumns(row, columns));
  return { markdown: markdownTable([header, ...body]), lines };
}

/**
 * The rows of the table that begins with this line: consecutive lines with several cells, half of
 * them with as many as the widest, or the first with more than the others, each of whose cells is
 * under one of its own.
 */
function rowsAt(lines: readonly TextLine[], start: number): TableRows | undefined {
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
  return { rows, columns };
}

function follows(before: TextLine, line: TextLine): boolean {
  const apart = before.y - line.y;
  return apart > 0 && apart < maxApart * Math.max(before.height, line.height);
}
