/** An encoding of one byte a letter, and where it is written. */
export type LetterEncoding = { readonly label: Bun.Encoding; readonly name: string };

/** How often each letter beyond ASCII is there among those of a language, by its texts. */
const western = [
  "ü65 ä54 ß31 ö30 é1",
  "é190 à49 è27 ê23 ç9 ù6 û6 î5 â5 ô2 œ2 ë1 ï1",
  "ó80 í70 á50 é45 ñ30 ú20 ü2 ¿1 ¡1",
  "ã80 á50 ç50 é40 í40 ê40 ó30 ú20 õ10 â10 à10 ô10",
  "à60 è30 ò20 ù20 é10 ì10",
  "à40 é30 ó25 è20 ò10 í20 ç12 ú12 ï5 ü2",
  "ë60 é40 ï20 ö10 è5 ü5 ç3",
  "ä180 å100 ö130 é5",
  "æ90 ø90 å120 é5",
  "ä100 õ60 ö20 ü50",
];
/** Few write it, and its letters are where Turkish has its own. */
const icelandic = ["á180 ð440 é65 í160 ó100 ú60 ý20 þ150 æ90 ö80"];
const central = [
  "ł180 ę110 ą100 ó85 ż83 ś66 ć40 ń20 ź6",
  "í320 á220 ě160 é130 ř120 ý110 ž100 č95 š80 ů70 ú10 ó3 ť4 ď2 ň1",
  "á190 č130 é100 í100 š100 ú100 ý100 ž100 ť50 ľ40 ň20 ď20 ô20 ó10 ä10 ĺ2 ŕ1",
  "é390 á340 ó100 ő90 ö80 í60 ü60 ú30 ű20",
  "č120 š100 ž60 ć60 đ30",
  "ă400 î140 ş150 ţ120 â90",
];
const turkish = ["ı510 ü190 ş180 ç110 ğ110 ö90 İ20 â5 î2 û1"];
const baltic = ["ė160 š140 ų140 ž80 ū50 į60 č40 ą60 ę20", "ā390 ī170 ē170 š100 ņ60 ū40 ļ40 ž30 ķ15 ģ15 č10"];

/** A letter that a language does not have may be in a name, a sign within a word hardly ever. */
const foreignLetter = 0.002;
const sign = 0.00001;
/** How much likelier than Windows-1252 another must be, as logarithms. */
const margin = 3;
const rare = 3;

type Language = { readonly shares: ReadonlyMap<string, number>; readonly handicap: number };

function shares(letters: string): ReadonlyMap<string, number> {
  const counts = [...letters.matchAll(/(\S)(\d+)/gu)].map(([, letter = "", count]) => [letter, Number(count)] as const);
  const sum = counts.reduce((all, [, count]) => all + count, 0);
  return new Map(counts.map(([letter, count]) => [letter, count / sum]));
}

/** Languages, and all of them together, as in a list of customers. */
function languages(letters: readonly string[], handicap = 0): Language[] {
  const each = letters.map(shares);
  const mixed = new Map<string, number>();
  for (const own of each)
    for (const [letter, share] of own) mixed.set(letter, (mixed.get(letter) ?? 0) + share / each.length);
  return [...each, mixed].map((own) => ({ shares: own, handicap }));
}

const inEast = languages([...central, ...western.slice(0, 1)]);
const windows1252 = encoding("windows-1252", "Windows-1252 (western European)");
const candidates: readonly (readonly [LetterEncoding, readonly Language[]])[] = [
  [windows1252, [...languages(western), ...languages(icelandic, rare)]],
  [encoding("windows-1250", "Windows-1250 (central European)"), inEast],
  [encoding("iso-8859-2", "ISO 8859-2 (central European)"), inEast],
  [encoding("windows-1254", "Windows-1254 (Turkish)"), languages(turkish)],
  [encoding("windows-1257", "Windows-1257 (Baltic)"), languages(baltic)],
];

function encoding(label: string, name: string): LetterEncoding {
  return { label: label as Bun.Encoding, name };
}

/**
 * The encoding that gives words the likeliest letters: Windows-1252 unless another is clearly
 * likelier. `counts` says how often each byte beyond ASCII is there within words.
 */
export function likeliestEncoding(counts: ReadonlyMap<number, number>): LetterEncoding {
  const [first, ...others] = candidates.map(([encoding, all]) => {
    const decoder = new TextDecoder(encoding.label);
    const letters = [...counts].map(([byte, count]) => [lower(decoder.decode(Uint8Array.of(byte))), count] as const);
    return { encoding, score: Math.max(...all.map((language) => likelihood(letters, language))) };
  });
  const [best] = others.toSorted((one, other) => other.score - one.score);
  return best && best.score > (first?.score ?? 0) + margin ? best.encoding : windows1252;
}

function lower(letter: string): string {
  return letter === "İ" ? letter : letter.toLowerCase();
}

function likelihood(letters: readonly (readonly [string, number])[], { shares: own, handicap }: Language): number {
  return letters.reduce((sum, [letter, count]) => {
    const least = /\p{L}/u.test(letter) ? foreignLetter : sign;
    return sum + count * Math.log((own.get(letter) ?? 0) + least);
  }, -handicap);
}
