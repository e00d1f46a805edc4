import type { PageDocument, PageElement, PageNode, PageRect } from "./dom.ts";

/**
 * Runs in the page, on an element: where in it the words are, from its upper left corner; undefined
 * when they are not there, or not in one piece. Where they stand alone counts before where they are
 * part of a longer text. Of several such places it is the first, with how many there are.
 */
export function findWords(element: PageElement, words: string): { x: number; y: number; places: number } | undefined {
  const document = element.ownerDocument as PageDocument & {
    createRange(): {
      setStart(node: PageNode, at: number): void;
      setEnd(node: PageNode, at: number): void;
      getClientRects(): ArrayLike<PageRect>;
    };
  };
  const wanted = words.toLowerCase();
  const walker = document.createTreeWalker(element, 4);
  let found: { x: number; y: number } | undefined;
  let [alone, places] = [false, 0];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    const at = text.indexOf(wanted);
    const isAlone = text.trim() === wanted;
    if (at < 0 || (alone && !isAlone)) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + words.length);
    const rect = range.getClientRects()[0];
    if (rect === undefined || rect.width === 0) continue;
    places = isAlone && !alone ? 1 : places + 1;
    if (places > 1) continue;
    alone = isAlone;
    const outer = element.getBoundingClientRect();
    found = { x: rect.left + rect.width / 2 - outer.left, y: rect.top + rect.height / 2 - outer.top };
  }
  return found && { ...found, places };
}
