/**
 * What an index of words stores of a text: numbers for each three characters in a row. A text that
 * has a word, whatever its case and wherever in it, has all the numbers of the word; one that has
 * all the numbers may still lack the word. Of languages that are written without spaces a word may
 * have one character fewer.
 */
export function addGrams(text: string, grams: Set<number>): void {
  let [before, between] = [0, 0];
  for (const code of codesOf(text)) {
    if (before > 0 && between > 0 && code > 0) grams.add(gramOf(before, between, code));
    [before, between] = [between, code];
  }
}

/**
 * The numbers of these words, at most `most` of each: enough to tell them from nearly everything.
 * Empty if all of them are too short to have any.
 */
export function gramsOfWords(words: readonly string[], most = 16): readonly number[] {
  const all = new Set<number>();
  for (const word of words) {
    const grams = new Set<number>();
    addGrams(word, grams);
    const list = [...grams];
    // Spread over the word, since words begin alike.
    const step = Math.max(1, list.length / most);
    for (let at = 0; at < list.length; at += step) all.add(list[Math.floor(at)] ?? 0);
  }
  return [...all];
}

const filler = 1;
const blank = /\s/;

/**
 * The characters' codes: 0 for blanks, which part words, and a filler after each that is half a
 * word.
 */
function* codesOf(text: string): Generator<number> {
  const lower = text.toLowerCase();
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    if (code <= 32 || (code >= 0x80 && blank.test(lower[at] ?? ""))) yield 0;
    else yield code;
    if (isHalfWord(code)) yield filler;
  }
}

/** Kana, Han and Hangul. */
function isHalfWord(code: number): boolean {
  return (
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff)
  );
}

/** 24 bits: more numbers than a text has, in few characters. */
function gramOf(a: number, b: number, c: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) & 0xffffff;
}
