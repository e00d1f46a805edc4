/**
 * Text of the web between marks that say where it comes from. The text inside cannot end the marks,
 * so a model can always distinguish the page's words from those around them.
 */
export function asData(source: string, text: string): string {
  const inside = text.replaceAll(/<(\/?web-content)/gi, "<\\$1");
  return `<web-content from="${source.replaceAll('"', "%22")}">\n${inside}\n</web-content>`;
}

/**
 * The beginning and the end of a text, with a note of the gap; the text itself when it is short
 * enough. Never cuts a character in two.
 */
export function headAndTail(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = text.slice(0, Math.floor(characters * 0.8)).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(-Math.floor(characters * 0.2)).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}
