/** A table as Markdown; the first row is its head, and short rows are filled up. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = Math.max(0, ...rows.map(({ length }) => length));
  if (width === 0) return "";
  const [head = [], ...others] = rows.map((row) => Array.from({ length: width }, (_, at) => row[at] ?? ""));
  return [tableLine(head), tableLine(head.map(() => "---")), ...others.map(tableLine)].join("\n");
}

/** One line of a Markdown table. */
export function tableLine(cells: readonly string[]): string {
  return `| ${cells.map(tableCell).join(" | ")} |`;
}

function tableCell(text: string): string {
  return text
    .trim()
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, "<br>");
}
