/**
 * The texts above and below the pages of a document, each once, as lines to stand before its own;
 * "" if there are none.
 */
export function pageEdges(headers: readonly string[], footers: readonly string[]): string {
  const lines = [...linesOf("page header", headers), ...linesOf("page footer", footers)];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
}

function linesOf(edge: string, texts: readonly string[]): string[] {
  const trimmed = texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
  return [...new Set(trimmed)].filter((text) => text !== "").map((text) => `[${edge}: ${text}]`);
}
