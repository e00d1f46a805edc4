/**
 * The most characters that are shown, line numbers included: fewer than a result may have, or its
 * middle would be cut as well.
 */
export const maxShown = 11_000;

/** What the words around the lines may take of a result. */
const around = 400;
const leastShown = 500;

/** The most characters of a file that a result of so many characters can show. */
export function shownWithin(resultCharacters: number): number {
  return Math.max(leastShown, Math.min(maxShown, resultCharacters - around));
}

/** What begins the note that a file is not shown to its end. */
export const clipped = "<response clipped>";

/**
 * The content with line numbers, as `cat -n` prints it, cut after a whole line at `most`
 * characters. `what` names it to the reader.
 */
export function numberLines(content: string, what: string, firstLine = 1, most = maxShown): string {
  const lines = content
    .split("\n")
    .map((line, index) => `${String(index + firstLine).padStart(6)}\t${line.replace(/\r$/, "")}`);
  return `Here's the result of running \`cat -n\` on ${what}:\n${clip(lines, firstLine, most)}\n`;
}

function clip(lines: readonly string[], firstLine: number, most: number): string {
  const whole = wholeLines(lines, most);
  if (whole === lines.length) return lines.join("\n");
  const [first = ""] = lines;
  const shown = whole === 0 ? first.slice(0, most).replace(/[\ud800-\udbff]$/, "") : lines.slice(0, whole).join("\n");
  const last = firstLine + Math.max(whole, 1) - 1;
  const told = whole === 0 ? `Line ${last} is too long to be shown whole.` : `Lines ${firstLine} to ${last} are shown.`;
  return `${shown}${clipped}<NOTE>To save on context only part of this file has been shown to you. ${told} Read on with view_range [${last + 1}, -1].</NOTE>`;
}

/** How many lines fit, counted from the first. */
function wholeLines(lines: readonly string[], most: number): number {
  let size = 0;
  const over = lines.findIndex((line) => {
    size += line.length + 1;
    return size > most;
  });
  return over === -1 ? lines.length : over;
}
