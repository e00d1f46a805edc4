import { escapeUnseen } from "manyhands/internal/core/text/sanitize";

/**
 * A text from a model, a tool or a peer, safe to print: characters that would move the cursor, set
 * a title, write the clipboard or hide text are shown as escapes. Works on pieces of a stream too.
 */
export function safeText(text: string): string {
  return escapeUnseen(text.replaceAll("\r\n", "\n"));
}

/** The same on one line, cut to a number of columns. */
export function safeLine(text: string, columns: number): string {
  const line = safeText(text).replace(/\s+/g, " ").trim();
  if (Bun.stringWidth(line) <= columns) return line;
  let cut = "";
  for (const character of line) {
    if (Bun.stringWidth(cut) + Bun.stringWidth(character) > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/**
 * A value as JSON with every unseen character escaped: it parses to the same value and is safe to
 * print.
 */
export function safeJson(value: unknown, indent?: number): string {
  return escapeUnseen(JSON.stringify(value, undefined, indent));
}
