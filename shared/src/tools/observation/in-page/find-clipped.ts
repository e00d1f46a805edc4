import type { PageElement, PageWindow } from "./dom.ts";
import type { ElementList } from "./element-list.ts";

declare const window: PageWindow;

/**
 * Runs in the page, on a list: those of the elements whose middle is scrolled or clipped out of the
 * box that holds them.
 */
export function findClipped(list: ElementList, numbers: readonly number[]): number[] {
  const isClipped = (element: PageElement) => {
    const own = element.getBoundingClientRect();
    const [x, y] = [own.left + own.width / 2, own.top + own.height / 2];
    let { position } = window.getComputedStyle(element);
    for (let at = element.parentElement; at !== null && at.tagName !== "BODY"; at = at.parentElement) {
      if (position === "fixed") return false;
      const style = window.getComputedStyle(at);
      // Boxes between an element and the outer box that positions it do not clip it.
      if (position === "absolute" && style.position === "static") continue;
      position = style.position;
      const { left, top, width, height } = at.getBoundingClientRect();
      const outside = x < left || y < top || x > left + width || y > top + height;
      if (outside && style.overflow !== "visible" && style.display !== "inline") return true;
    }
    return false;
  };
  return numbers.filter((number) => {
    const element = list.elements[number];
    return element !== undefined && isClipped(element);
  });
}
