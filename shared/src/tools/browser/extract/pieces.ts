/**
 * Splits a text into pieces of at most so many characters, between paragraphs or lines where
 * possible, otherwise anywhere except within a character.
 */
export function piecesOf(text: string, characters: number): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > characters) {
    const head = rest.slice(0, characters);
    const breaks = [head.lastIndexOf("\n\n"), head.lastIndexOf("\n"), head.lastIndexOf(" ")];
    const at = breaks.find((place) => place > characters / 2) ?? head.replace(/[\uD800-\uDBFF]$/, "").length;
    pieces.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return rest === "" ? pieces : [...pieces, rest];
}
