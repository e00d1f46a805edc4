/**
 * The beginning of a page with at most so many elements and attributes, which take a hundred times
 * the memory of their text once the page is parsed. What scripts and styles hold is not counted.
 */
export function beginningOf(html: string, most = 100_000): string {
  let parts = 0;
  for (let at = nextTag(html, 0); at !== -1; ) {
    const { end, attributes } = readTag(html, at, most - parts);
    parts += 1 + attributes;
    if (parts > most) return html.slice(0, at);
    const [, raw] = rawText.exec(html.slice(at, at + 8)) ?? [];
    at = nextTag(html, raw === undefined ? end : endOf(html, raw, end));
  }
  return html;
}

const rawText = /^<(script|style)[\s/>]/i;
const [space, tab, newline, feed, carriage, slash, greater, equals] = [32, 9, 10, 12, 13, 47, 62, 61];
const [double, single] = [34, 39];

function nextTag(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at !== -1; at = html.indexOf("<", at + 1)) {
    const letter = html.charCodeAt(at + 1) | 0x20;
    if (letter >= 0x61 && letter <= 0x7a) return at;
  }
  return -1;
}

/** Where a tag ends, and how many attributes it has, counted to `most`. */
function readTag(html: string, start: number, most: number): { readonly end: number; readonly attributes: number } {
  let attributes = 0;
  let isBetween = false;
  for (let at = start + 1; at < html.length; at++) {
    const code = html.charCodeAt(at);
    if (code === greater) return { end: at, attributes };
    const separates = [space, tab, newline, feed, carriage, slash].includes(code);
    if (isBetween && !separates && code !== equals && ++attributes > most) return { end: at, attributes };
    isBetween = separates;
    if ((code === double || code === single) && html.charCodeAt(at - 1) === equals) {
      const close = html.indexOf(String.fromCharCode(code), at + 1);
      if (close === -1) return { end: html.length, attributes };
      at = close;
      // The next attribute may follow at once.
      isBetween = true;
    }
  }
  return { end: html.length, attributes };
}

/** Where the content of a script or style ends; the end of the page if it never does. */
function endOf(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, "gi");
  closing.lastIndex = from;
  return closing.exec(html)?.index ?? html.length;
}
