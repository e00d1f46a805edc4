/** Words that say nothing of what a text is about, in the languages people write to us most. */
const common = new Set(
  `the and for that this with from you your are was were will would should can could have has had not but all any
  what when where which who how why there their them they then than also only just some more most into out over
  user users file files task tasks answer answers begin begins
  first next last time day always never again every each both other than before after still too very much many per
  off come went going take took put keep here today now then
  about please make want need use write give show tell let new get its his her our one two
  der die das und ist nicht ein eine einen einer mit von fur auf den dem des wie was wer ich sie wir als auch nur bitte
  immer nie erst dann jetzt heute alle jede noch schon sehr mehr vor nach bei zum zur
  les des une est pas pour avec dans sur qui que vous nous par son ses aux plus
  los las una para con por que del como sus mas esta este`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

const shortestWord = 3;
const maxTerms = 400;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * The words by which a text is found: lower case, without accents and the s of a plural. Of
 * languages that are written without spaces, each two characters in a row.
 */
export function termsOf(text: string): readonly string[] {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").normalize("NFC").toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.flatMap((word) => (unspaced.test(word) ? pairsOf(word) : spacedTerm(word))))].slice(
    0,
    maxTerms,
  );
}

function spacedTerm(word: string): readonly string[] {
  // A short name with a digit, such as S3, says more than a short word.
  if ((word.length < shortestWord && !/\p{N}/u.test(word)) || word.length < 2 || common.has(word)) return [];
  return [word.length > shortestWord ? word.replace(/s$/, "") : word];
}

function pairsOf(word: string): readonly string[] {
  const letters = Array.from(word);
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}
