/** Characters of a file that are shown at most. */
export const mostShown = 16_000;

const clippedNote =
  "<response clipped><NOTE>To save on context only part of this file has been shown to you. " +
  "You should retry this tool after you have searched inside the file with `grep -n` " +
  "in order to find the line numbers of what you are looking for.</NOTE>";

/** The content with line numbers, as `cat -n` gives it, cut to what is shown at most. `what` names it to the reader. */
export function numberLines(content: string, what: string, firstLine = 1): string {
  const lines = clip(content)
    .split("\n")
    .map((line, index) => `${String(index + firstLine).padStart(6)}\t${line.replace(/\r$/, "")}`);
  return `Here's the result of running \`cat -n\` on ${what}:\n${lines.join("\n")}\n`;
}

function clip(content: string): string {
  if (content.length <= mostShown) return content;
  return content.slice(0, mostShown).replace(/[\ud800-\udbff]$/, "") + clippedNote;
}
