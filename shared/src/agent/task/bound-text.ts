/**
 * Text of at most `limit` characters: whole if it fits, otherwise its head and tail around a note
 * that names the file in which `spill` stored the full text.
 */
export async function boundText(
  text: string,
  limit: number,
  spill: (whole: string) => Promise<string>,
): Promise<string> {
  if (text.length <= limit) return text;
  const path = await spill(text);
  const note = `\n\n[${text.length - limit} of ${text.length} characters left out here; the whole is in ${path}]\n\n`;
  return headAndTail(text, limit, note);
}

/** The file that holds a cut text whole, as its note names it. */
export function wholeIn(text: string): string | undefined {
  return /(?:; the whole is in |\[whole output, \d+ bytes: )(\.manyhands\/output\/[^\s\]]+)\]/.exec(text)?.[1];
}

/** A text that was cut before, cut further; it still names the file that holds it whole. */
export function shortenAgain(text: string, limit: number): string {
  const note = `\n\n[More is no longer shown here; the whole is in ${wholeIn(text)}]\n\n`;
  return headAndTail(text, limit, note);
}

function headAndTail(text: string, limit: number, note: string): string {
  const half = Math.max(0, Math.floor((limit - note.length) / 2));
  // The cut may split a surrogate pair, which providers refuse.
  return text.slice(0, half).toWellFormed() + note + text.slice(text.length - half).toWellFormed();
}
