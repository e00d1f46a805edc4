import type { PageElement } from "./dom.ts";
import type { Reader } from "./reader.ts";

/**
 * Runs in the page: whether the middle of an element is scrolled or clipped out of a box that holds
 * it.
 */
export function isClipped(reader: Reader, element: PageElement): boolean {
  const own = reader.box(element);
  const [x, y] = [own.left + own.width / 2, own.top + own.height / 2];
  let { position } = reader.style(element);
  for (let at = reader.parent(element); at !== undefined && reader.tag(at) !== "BODY"; at = reader.parent(at)) {
    if (position === "fixed") return false;
    const style = reader.style(at);
    // Boxes between an element and the outer box that positions it do not clip it.
    if (position === "absolute" && style.position === "static") continue;
    position = style.position;
    const { left, top, width, height } = reader.box(at);
    const outside = x < left || y < top || x > left + width || y > top + height;
    if (outside && style.overflow !== "visible" && style.display !== "inline") return true;
  }
  return false;
}
