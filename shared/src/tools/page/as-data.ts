import { counted } from "../../core/text/counted.ts";
import { betweenMarks } from "../../core/text/sanitize.ts";

/** Text of the web between marks that name the page. */
export function asData(source: string, text: string): string {
  return betweenMarks("web-content", source, text);
}

/** Where a page is from; its address if that says nothing of it. */
export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/**
 * The beginning and the end of a text, with a note of the gap; the text itself when it is short
 * enough. Never cuts a character in two.
 */
export function headAndTail(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = text.slice(0, Math.floor(characters * 0.8)).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(-Math.floor(characters * 0.2)).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}\n[… ${counted(text.length - head.length - tail.length, "character")} left out …]\n${tail}`;
}
