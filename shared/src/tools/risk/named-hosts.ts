const address = /\bhttps?:\/\/[^\s"'<>()[\]{}|\\^`]+/giu;
const bareName =
  /(?<![@\p{L}\p{N}_./-])(?:(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?![\w@])/giu;

/**
 * Endings of file names: what ends so is taken for a file unless it is written as an address. The
 * first line's are ends of hosts as well.
 */
const fileEnding = new RegExp(
  `\\.(?:md|py|sh|rs|pl|ps|cc|zip|mov|so|js|ts|go|${[
    "csv|tsv|txt|log|json|jsonl|xml|yml|yaml|toml|ini|html|css|tsx|jsx|java|sql|db|sqlite|parquet|ipynb",
    "pdf|doc|docx|odt|rtf|xls|xlsx|ods|ppt|pptx|epub|png|jpg|jpeg|gif|svg|webp|bmp|tiff|wav|gz|tar",
  ].join("|")})$`,
  "i",
);

/**
 * The hosts that a person's words name, as entries that cover a host and its subdomains. They come
 * from addresses (`https://shop.example/cart`) and bare names (`shop.example`, `127.0.0.1:8080`),
 * never from email addresses.
 */
export function hostsNamedIn(text: string): string[] {
  return addressesNamedIn(text).map((url) => entryFor(new URL(url)));
}

/** The addresses that words name, including those of bare names. */
export function addressesNamedIn(text: string): string[] {
  // Punctuation that ends a sentence does not belong to the address before it.
  const urls = (text.match(address) ?? []).map((url) => url.replace(/(?<![.,;:!?])[.,;:!?]+$/, ""));
  const bare = (text.replaceAll(address, " ").match(bareName) ?? []).filter((name) => !fileEnding.test(name));
  return [...urls, ...bare.map((name) => `http://${name}`)].flatMap((text) => {
    const url = URL.parse(text);
    return url === null || url.hostname === "" ? [] : [url.href];
  });
}

/** The entry that covers a URL's host and, when the host is a name, its subdomains. */
export function entryFor({ hostname, port }: URL): string {
  const isName = !hostname.startsWith("[") && !/^[\d.]+$/.test(hostname);
  const host = isName ? `*.${hostname.replace(/^www\./, "")}` : hostname;
  return port === "" ? host : `${host}:${port}`;
}

/** In a longer message, only the beginning can be a person's own typing. */
const longest = 2_000;

/** Text after one of these marks was most likely pasted from elsewhere. */
const marks: readonly RegExp[] = [
  // A separate paragraph: people say what they want, then paste what it is about.
  /\n[^\S\n]*\n/,
  // An introduction: a line that ends with a colon, or words that announce somebody's text.
  /:[^\S\n]*(?:\n|$)/,
  /(?<![\p{L}\p{N}_])(?:e-?mail|mail|message|letter|text|notes?|page|post|comment|article|document|transcript|logs?|output|error|quote|say|says|said|wrote|writes|reads|following|below|nachricht|brief|seite|folgende\w*|schrieb|schreibt|sagt|courriel|lettre|texte|suivante?|écrit|dit|correo|mensaje|carta|texto|siguiente|escribió|dice)(?![\p{L}\p{N}_])[^\n:]{0,40}:(?!\/\/)/iu,
  /^(?:from|to|cc|subject|date|von|an|betreff|datum|de|à|objet|asunto|para|fecha):/im,
  // Marks of quoted, copied or computed text.
  /^[^\S\n]*(?:>|```|~~~|---|===|\||\{|<)/m,
  /```|<\/?[a-z][^<>\n]*>|\]\(/i,
];

/**
 * Quotation marks. The text between the first and the last of a kind is quoted, whatever other
 * marks it contains.
 */
const quotes = [
  /"[\s\S]*"/,
  /[“„][\s\S]*[“”]/,
  /«[\s\S]*»/,
  /»[\s\S]*«/,
  /「[\s\S]*」/,
  /(?<![\p{L}\p{N}])'[\s\S]*'(?![\p{L}\p{N}])/u,
];

/**
 * The part of a message that a person typed, as far as its text alone shows: its first paragraph,
 * up to the first sign of pasted text. Quoted words count only when they are an address and nothing
 * else.
 */
export function typedWords(message: string): string {
  const text = message.slice(0, longest);
  const ends = marks.flatMap((mark) => mark.exec(text)?.index ?? []);
  const own = text.slice(0, Math.min(text.length, ...ends));
  return quotes.reduce((words, quote) => words.replace(quote, (span) => (/\s/.test(span) ? " " : span)), own);
}
