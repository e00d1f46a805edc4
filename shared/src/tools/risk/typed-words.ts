/** Of a message that is longer, only its beginning can be a person's own typing. */
const longest = 2_000;

/** What follows one of these was most likely put there from elsewhere. */
const marks: readonly RegExp[] = [
  // A paragraph of its own: people say what they want, and then put what it is about.
  /\n[^\S\n]*\n/,
  // An introduction: a line that ends with a colon, or words that announce somebody's text.
  /:[^\S\n]*(?:\n|$)/,
  /\b(?:e-?mail|mail|message|letter|text|notes?|page|post|comment|article|document|transcript|logs?|output|error|quote|say|says|said|wrote|writes|reads|following|below|nachricht|brief|seite|folgende\w*|schrieb|schreibt|sagt|courriel|lettre|texte|suivante?|écrit|dit|correo|mensaje|carta|texto|siguiente|escribió|dice)\b[^\n:]{0,40}:(?!\/\/)/iu,
  /^(?:from|to|cc|subject|date|von|an|betreff|datum|de|à|objet|asunto|para|fecha):/im,
  // Marks of quoted, copied or computed text.
  /^[^\S\n]*(?:>|```|~~~|---|===|\||\{|<)/m,
  /```|<\/?[a-z][^<>\n]*>|\]\(/i,
];

/** Quotation marks; what stands between the first and the last of a kind is quoted, whatever marks it holds itself. */
const quotes = [
  /"[\s\S]*"/,
  /[“„][\s\S]*[“”]/,
  /«[\s\S]*»/,
  /»[\s\S]*«/,
  /「[\s\S]*」/,
  /(?<![\p{L}\p{N}])'[\s\S]*'(?![\p{L}\p{N}])/u,
];

/**
 * The part of a message that a person typed, as far as its text alone can tell: its first paragraph, up to the first sign of text that was put there
 * from elsewhere. Quoted words count only when they are an address and nothing else.
 */
export function typedWords(message: string): string {
  const text = message.slice(0, longest);
  const ends = marks.flatMap((mark) => mark.exec(text)?.index ?? []);
  const own = text.slice(0, Math.min(text.length, ...ends));
  return quotes.reduce((words, quote) => words.replace(quote, (span) => (/\s/.test(span) ? " " : span)), own);
}
