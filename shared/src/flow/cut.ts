/**
 * How many characters of answers are shown to others: in total, and the minimum and maximum for one
 * answer.
 */
const allAnswers = 60_000;
const shortestAnswer = 2_000;
const longestAnswer = 16_000;

/** The text, or its first `most` characters with a note that it was cut. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n[cut off]`;
}

/** How many characters each of `count` answers may have if all are shown together. */
export function roomForEach(count: number): number {
  return Math.max(shortestAnswer, Math.min(longestAnswer, Math.floor(allAnswers / count)));
}
