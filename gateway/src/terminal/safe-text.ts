/**
 * Characters that control a terminal or reorder text: C0 and C1 controls except tab and newline,
 * and bidirectional controls.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what must not pass.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text from a model, a tool or a peer, safe to print: characters that would move the cursor, set
 * a title, write the clipboard or hide text are shown as escapes. Works on pieces of a stream too.
 */
export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
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
 * A value as JSON with every terminal control escaped: it parses to the same value and is safe to
 * print.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(controls, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
