/** A text's most frequent line ending; `\n` when it has none. */
function lineEndingOf(text: string): "\n" | "\r\n" {
  const all = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  return windows > all - windows ? "\r\n" : "\n";
}

/** The text with `\n` for every line ending. */
export function withPlainEndings(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * Replaces the characters from `start` to `end`, counted in the text with plain endings, by
 * `replacement` in the text's own line ending. Everything outside stays unchanged, even when a text
 * mixes line endings.
 */
export function splice(text: string, start: number, end: number, replacement: string): string {
  const own = withPlainEndings(replacement).replaceAll("\n", lineEndingOf(text));
  return text.slice(0, originalOffset(text, start)) + own + text.slice(originalOffset(text, end));
}

function originalOffset(text: string, plainOffset: number): number {
  let offset = plainOffset;
  for (let at = text.indexOf("\r\n"); at !== -1 && at < offset; at = text.indexOf("\r\n", at + 2)) offset++;
  return offset;
}
