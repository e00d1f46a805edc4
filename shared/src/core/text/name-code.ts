/** An older encoding in which systems of a language write the names in a zip file. */
type NameCode = {
  readonly name: "shift_jis" | "gb18030" | "euc-kr";
  /** Whether these two bytes are a character that names of that language are made of. */
  isUsual(lead: number, trail: number): boolean;
};

const isIn = (byte: number, ...ranges: readonly (readonly [number, number])[]) =>
  ranges.some(([first, last]) => byte >= first && byte <= last);

/** Each in the first of its two planes of characters, of which most names consist. */
const codes: readonly NameCode[] = [
  // Signs and kana, and the kanji of everyday use.
  { name: "shift_jis", isUsual: (lead) => isIn(lead, [0x81, 0x84], [0x88, 0x97]) },
  // Hangul, which are a part of what Chinese characters are written as.
  { name: "euc-kr", isUsual: (lead, trail) => trail >= 0xa1 && isIn(lead, [0xb0, 0xc8]) },
  { name: "gb18030", isUsual: (lead, trail) => trail >= 0xa1 && isIn(lead, [0xa1, 0xa3], [0xb0, 0xd7]) },
];

/** A Chinese name may by chance consist of what are hangul, too. */
const fewestHangul = 4;
const usualShare = 0.9;

/** What MS-DOS wrote for the letters of Western Europe. */
const isWestern = (byte: number) => isIn(byte, [0x80, 0xa5], [0xe1, 0xe1]);

/**
 * Reads names in the encoding that all of these are most likely in, if it is none of MS-DOS's:
 * undefined otherwise, and for a name that does not fit.
 */
export function nameReader(names: readonly Uint8Array[]): (name: Uint8Array) => string | undefined {
  const foreign = names.filter((name) => name.some((byte) => byte >= 0x80));
  const code = codes.find((one) => fits(one, foreign));
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

function fits({ name, isUsual }: NameCode, names: readonly Uint8Array[]): boolean {
  if (names.every((one) => one.every((byte) => byte < 0x80 || isWestern(byte)))) return false;
  const pairs = names.flatMap((one) => pairsIn(one));
  if (pairs.some((pair) => pair.length === 1)) return false;
  const usual = pairs.filter(([lead = 0, trail = 0]) => isUsual(lead, trail)).length;
  if (name === "euc-kr" && (usual < fewestHangul || usual < pairs.length)) return false;
  return usual > 0 && usual >= usualShare * pairs.length;
}

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
