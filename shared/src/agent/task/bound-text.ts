import { estimateText } from "../../models/tokens.ts";

/** The most of a model's window that one result may fill, and the results of one turn together. */
const resultShare = 0.15;
const turnShare = 0.45;

/** Characters of a token, at least: what a result's text is bounded by before it is there. */
const charactersPerToken = 3;

/** The most characters of a result for a model with this window, in tokens. */
export function charactersFor(contextWindow: number): number {
  return Math.floor(contextWindow * resultShare * charactersPerToken);
}

/**
 * The most characters of this text, one of so many results of a turn, for a model with this window.
 */
export function charactersOf(text: string, contextWindow: number, results: number): number {
  const tokens = contextWindow * Math.min(resultShare, turnShare / results);
  if (text.length <= tokens) return text.length;
  return Math.floor((tokens * text.length) / Math.max(1, estimateText(text)));
}

/** To have what is missing takes a call, which costs more than this share of it. */
const slack = 1.1;

/**
 * Text of at most `limit` characters: whole if it fits or little is beyond it, otherwise its head
 * and tail around a note that names the file in which `spill` stored the full text. Without `spill`
 * the text ends with the name of a file that holds more than itself.
 */
export async function boundText(
  text: string,
  limit: number,
  spill: ((whole: string) => Promise<string>) | undefined,
): Promise<string> {
  if (text.length <= limit * slack) return text;
  if (spill === undefined) return headAndTail(text, limit, "\n\n[the middle is left out here]\n\n");
  const path = await spill(text);
  const note = `\n\n[${text.length - limit} of ${text.length} characters left out here; the whole is in ${path}]\n\n`;
  return headAndTail(text, limit, note);
}

/** The file that holds a cut text whole, as its note names it. */
export function wholeIn(text: string): string | undefined {
  return /(?:; the whole is in |\[whole output, \d+ bytes: )(\.manyhands\/output\/[^\s\]]+)\]/.exec(text)?.[1];
}

/** A text cut further; if it was cut before, it still names the file that holds it whole. */
export function shortenAgain(text: string, limit: number): string {
  const file = wholeIn(text);
  const note = `\n\n[More is no longer shown here${file === undefined ? "" : `; the whole is in ${file}`}]\n\n`;
  return headAndTail(text, limit, note);
}

function headAndTail(text: string, limit: number, note: string): string {
  const half = Math.max(0, Math.floor((limit - note.length) / 2));
  // The cut may split a surrogate pair, which providers refuse.
  return text.slice(0, half).toWellFormed() + note + text.slice(text.length - half).toWellFormed();
}
