/** A table in a text: what stands before it, its head and rows, and what follows. */
export type ReadTable = {
  readonly before: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly after: string;
};

const dashes = /^:?-{3,}:?$/;
const type = /^[A-Z][A-Z0-9_ ]*(\([\d, ]+\))?(\[\])?$/;

/**
 * The first table that was written as lines of `a | b | c`, with bars at its sides as in Markdown
 * or without; undefined if there is none. A row of types or of dashes below the head is left out.
 */
export function readTable(text: string): ReadTable | undefined {
  const lines = text.split("\n");
  const cells = lines.map(cellsOf);
  const widths = cells.map(({ length }) => length);
  const first = widths.findIndex((width, at) => width > 1 && widths[at + 1] === width);
  if (first < 0) return undefined;
  const width = widths[first];
  let last = first;
  while (widths[last + 1] === width) last++;
  const [head = [], ...rows] = cells.slice(first, last + 1);
  const typed = rows[0]?.every((cell) => type.test(cell) || dashes.test(cell)) === true;
  return {
    before: lines.slice(0, first).join("\n").trim(),
    head,
    rows: typed ? rows.slice(1) : rows,
    after: lines
      .slice(last + 1)
      .join("\n")
      .trim(),
  };
}

/** The rows of a CSV file (RFC 4180), or one with another separator, at most `most` of them. */
export function readCsv(text: string, most: number, separator = ","): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length && rows.length <= most; at++) {
    const character = text[at] ?? "";
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[at + 1] === '"') {
        field += '"';
        at++;
      } else quoted = false;
    } else if (character === '"' && field === "") quoted = true;
    else if (character === separator || character === "\n") {
      rows.at(-1)?.push(field.replace(/\r$/, ""));
      field = "";
      if (character === "\n") rows.push([]);
    } else field += character;
  }
  if (field !== "" || (rows.at(-1)?.length ?? 0) > 0) rows.at(-1)?.push(field);
  return rows.filter((row) => row.length > 0).slice(0, most);
}

/** The cells of a line; a line with a bar at each side is one of Markdown. */
function cellsOf(line: string): string[] {
  const inner = /^\s*\|(.*)\|\s*$/.exec(line)?.[1];
  return (inner === undefined ? line.split(" | ") : inner.split("|")).map((cell) => cell.trim());
}

/** Whether the column holds figures, which stand to the right. */
export function isFigures(rows: readonly (readonly string[])[], column: number): boolean {
  const cells = rows.map((row) => row[column] ?? "").filter((cell) => cell !== "" && cell !== "NULL");
  return cells.length > 0 && cells.every((cell) => /^[-+]?[$€]?[\d.,]+(e[-+]?\d+)?\s?%?$/i.test(cell));
}
