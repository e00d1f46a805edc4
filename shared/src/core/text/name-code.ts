/** An older encoding in which systems of a language write the names in a zip file. */
type NameCode = {
  readonly name: "shift_jis" | "gb18030" | "euc-kr" | "ibm866" | "big5";
  /** Whether names with these bytes are most likely in it. */
  fits(names: readonly Uint8Array[]): boolean;
};

const isIn = (byte: number, ...ranges: readonly (readonly [number, number])[]) =>
  ranges.some(([first, last]) => byte >= first && byte <= last);

/** In the order in which they are tried: what fits one may fit a later one by chance. */
const codes: readonly NameCode[] = [
  // Signs and kana, and the kanji of everyday use.
  { name: "shift_jis", fits: ofPairs((lead) => isIn(lead, [0x81, 0x84], [0x88, 0x97])) },
  // Hangul, which are a part of what Chinese characters are written as.
  { name: "euc-kr", fits: ofHangul },
  // Of these and of Big5 the first of two planes of characters, of which most names consist.
  {
    name: "gb18030",
    fits: ofPairs((lead, trail) => trail >= 0xa1 && isIn(lead, [0xa1, 0xa3], [0xb0, 0xd7])),
  },
  { name: "ibm866", fits: ofCyrillic },
  { name: "big5", fits: ofWords },
];

/** A Chinese name may by chance consist of what are hangul or Cyrillic letters, too. */
const fewestHangul = 4;
const fewestLetters = 4;
const usualShare = 0.9;

/** What MS-DOS wrote for the letters of Western Europe. */
const isWestern = (byte: number) => isIn(byte, [0x80, 0xa5], [0xe1, 0xe1]);

/**
 * Reads names in the encoding that all of these are most likely in, if it is none of MS-DOS's:
 * undefined otherwise, and for a name that does not fit.
 */
export function nameReader(names: readonly Uint8Array[]): (name: Uint8Array) => string | undefined {
  const foreign = names.filter((name) => name.some((byte) => byte >= 0x80));
  const isDos = foreign.every((name) => name.every((byte) => byte < 0x80 || isWestern(byte)));
  const code = isDos ? undefined : codes.find(({ fits }) => fits(foreign));
  if (code === undefined) return () => undefined;
  const decoder = new TextDecoder(code.name, { fatal: true });
  return (name) => {
    try {
      return decoder.decode(name);
    } catch {
      return undefined;
    }
  };
}

/** Fits if nearly all of these names' pairs of bytes are usual characters. */
function ofPairs(isUsual: (lead: number, trail: number) => boolean): NameCode["fits"] {
  return (names) => {
    const pairs = names.flatMap(pairsIn);
    const usual = pairs.filter(([lead = 0, trail = 0]) => isUsual(lead, trail)).length;
    return pairs.every(({ length }) => length === 2) && usual > 0 && usual >= usualShare * pairs.length;
  };
}

function ofHangul(names: readonly Uint8Array[]): boolean {
  const pairs = names.flatMap(pairsIn);
  const isHangul = ([lead = 0, trail = 0]: Uint8Array) => trail >= 0xa1 && isIn(lead, [0xb0, 0xc8]);
  return pairs.length >= fewestHangul && pairs.every(isHangul);
}

/**
 * Big5. Its second bytes may be ASCII, so that a capital with an accent before a letter is a
 * character too, but hardly ever two of them.
 */
function ofWords(names: readonly Uint8Array[]): boolean {
  const usual = /(?:[\xa1-\xc6][\x40-\x7e\xa1-\xfe])+/g;
  const words = names.flatMap((name) => Buffer.from(name).toString("latin1").match(usual) ?? []);
  const characters = words.reduce((sum, { length }) => sum + length / 2, 0);
  const pairs = names.flatMap(pairsIn).length;
  return characters >= usualShare * pairs && characters >= 2 * words.length;
}

/** The letters of MS-DOS in Russian. Big5 has the same bytes, but not a vowel in every fourth. */
function ofCyrillic(names: readonly Uint8Array[]): boolean {
  const letters = names.flatMap((name) => [...name.filter((byte) => byte >= 0x80)]);
  const vowels = letters.filter((byte) => cyrillicVowels.has(byte)).length;
  const areLetters = letters.every((byte) => isIn(byte, [0x80, 0xaf], [0xe0, 0xf1]));
  return areLetters && letters.length >= fewestLetters && vowels >= letters.length / 4;
}

/** АЕИОУЫЭЮЯ and аеиоуыэюя. */
const cyrillicVowels = new Set([
  ...[0x80, 0x85, 0x88, 0x8e, 0x93, 0x9b, 0x9d, 0x9e, 0x9f],
  ...[0xa0, 0xa5, 0xa8, 0xae, 0xe3, 0xeb, 0xed, 0xee, 0xef],
]);

/** The bytes that are no ASCII, each with the one after it; alone at the end of the name. */
function pairsIn(name: Uint8Array): Uint8Array[] {
  const pairs: Uint8Array[] = [];
  for (let at = 0; at < name.length; at++) {
    if ((name[at] ?? 0) < 0x80) continue;
    pairs.push(name.subarray(at, at + 2));
    at++;
  }
  return pairs;
}
