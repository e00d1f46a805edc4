/**
 * Another agent's text as one line of at most `most` characters, without terminal control
 * characters.
 */
export function shortLine(text: string, most = 200): string {
  const line = text
    .slice(0, most * 4)
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return (line.length <= most ? line : `${line.slice(0, most - 1)}…`).toWellFormed();
}
