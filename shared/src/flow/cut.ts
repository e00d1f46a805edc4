/**
 * Characters of the answers that others are shown: of all together, and the least and the most of
 * one.
 */
const allAnswers = 60_000;
const shortestAnswer = 2_000;
const longestAnswer = 16_000;

/** The text, or its beginning of `most` characters with a word that it was cut. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n[cut off]`;
}

/** The characters that each of `count` answers may have where all of them are shown together. */
export function roomForEach(count: number): number {
  return Math.max(shortestAnswer, Math.min(longestAnswer, Math.floor(allAnswers / count)));
}
