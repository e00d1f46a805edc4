import { inColumns, isUnder, type TableRows } from "./page-columns.ts";
import type { TextLine } from "./page-lines.ts";

const maxHeadLines = 3;
/** Baselines of one cell are at most this far apart, in heights of the text. */
const maxLeading = 1.5;
/**
 * How much further the first row is from the header than the header's lines are from each other.
 */
const rowsApart = 1.2;

/**
 * The first rows of a table that are lines of its header. Several are when they are closer to each
 * other than to the row below, or when the first has nothing over the first column, above figures.
 */
export function headLines({ rows, columns }: TableRows): readonly TextLine[] {
  for (let count = Math.min(maxHeadLines, rows.length - 1); count > 1; count--) {
    const head = rows.slice(0, count);
    if (!head.every((line) => isUnder(line, columns) && !hasFigures(line)) || !isStack(head)) continue;
    const body = { rows: rows.slice(count), columns };
    if (isApart(head, body.rows[0]) || (isRaised(head, columns) && hasFigureColumn(body))) return head;
  }
  return rows.slice(0, 1);
}

/**
 * The lines of a header of which these come before a table's rows, with those of its rows that
 * belong to it; undefined if they are no header: a caption, or the text before.
 */
export function stackedHead(above: readonly TextLine[], { rows, columns }: TableRows): readonly TextLine[] | undefined {
  const [first, ...others] = rows;
  if (first === undefined || !above.every((line) => isUnder(line, columns) && !hasFigures(line))) return undefined;
  const onLevel = above.some(({ y }) => y <= first.y + 0.4 * first.height);
  const isBody = hasFigures(first) || others.length === 0 || !hasFigureColumn({ rows: others, columns });
  if (onLevel && isBody) return undefined;
  const head = isBody ? above : [...above, first];
  const stacks = columns.map((_, at) => head.filter((line) => inColumns(line, columns)[at] !== ""));
  const filled = stacks.filter((stack) => stack.length > 0).length;
  if (!stacks.every(isStack) || stacks.every(({ length }) => length < 2)) return undefined;
  const top = Math.max(...head.map(({ y }) => y));
  if (top - first.y > (maxHeadLines + 1) * maxLeading * first.height) return undefined;
  return isBody
    ? filled >= 2 && filled * 2 >= columns.length
      ? head
      : undefined
    : isOver(above, columns)
      ? head
      : undefined;
}

/** Whether something is over another column than the first, where a caption would be. */
function isOver(lines: readonly TextLine[], columns: TableRows["columns"]): boolean {
  return lines.some((line) => inColumns(line, columns).some((text, at) => at > 0 && text !== ""));
}

/** Whether lines are as close to each other as those of one cell. */
function isStack(lines: readonly TextLine[]): boolean {
  const sorted = lines.toSorted((one, other) => other.y - one.y);
  return sorted.every((line, at) => {
    const before = sorted[at - 1];
    return before === undefined || before.y - line.y <= maxLeading * Math.max(before.height, line.height);
  });
}

function isApart(head: readonly TextLine[], row: TextLine | undefined): boolean {
  const [last, before] = [head.at(-1), head.at(-2)];
  if (last === undefined || before === undefined || row === undefined) return false;
  return last.y - row.y >= rowsApart * (before.y - last.y);
}

function isRaised(head: readonly TextLine[], columns: TableRows["columns"]): boolean {
  const over = head.map((line) => inColumns(line, columns)[0] !== "");
  return over[0] === false && over.at(-1) === true;
}

/** Whether all that some column holds in these rows are figures. */
function hasFigureColumn({ rows, columns }: TableRows): boolean {
  const texts = rows.map((row) => inColumns(row, columns));
  return columns.some((_, at) => {
    const held = texts.map((row) => row[at] ?? "").filter((text) => text !== "");
    return held.length > 0 && held.every(isFigure);
  });
}

function hasFigures({ cells }: TextLine): boolean {
  return cells.some(({ text }) => isFigure(text));
}

/** Whether a text is a number, with its sign, unit of money or per cent. */
function isFigure(text: string): boolean {
  return /^[-+−(]?\s*\p{Sc}?\s*\d[\d.,'’\s]*\s*(?:%|\p{Sc})?\)?$/u.test(text.trim());
}
