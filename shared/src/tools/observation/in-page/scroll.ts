import type { PageDocument, PageElement, PageWindow } from "./dom.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/** How far and in which direction; without an amount, by the height of the scrolled element. */
export type ScrollOrder = { readonly amount: number | undefined; readonly sign: 1 | -1 };

/** How far it scrolled, and how much is out of view now, in pixels. */
export type ScrollResult = { readonly moved: number; readonly above: number; readonly below: number };

/**
 * Runs in the page: scrolls the page or, when the page has nothing to scroll, the scrollable part
 * in the window's middle, or else the largest in view.
 */
export function scrollWindow({ amount, sign }: ScrollOrder): ScrollResult {
  const root: PageElement = document.scrollingElement ?? document.documentElement;
  const scrolls = (element: PageElement) =>
    element.scrollHeight > element.clientHeight + 1 &&
    !/visible|hidden|clip/.test(window.getComputedStyle(element).overflowY);
  let target = root;
  if (root.scrollHeight <= root.clientHeight + 1) {
    let at = document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2);
    while (at !== null && !scrolls(at)) at = at.parentElement;
    target = at ?? largestPart(scrolls) ?? root;
  }
  function largestPart(scrolls: (element: PageElement) => boolean): PageElement | undefined {
    const areaOf = ({ clientWidth, clientHeight }: PageElement) => clientWidth * clientHeight;
    const isInView = (element: PageElement) => {
      const { top, bottom } = element.getBoundingClientRect();
      return bottom > 0 && top < window.innerHeight && areaOf(element) > 0;
    };
    const parts = Array.from(document.querySelectorAll("*")).filter((one) => scrolls(one) && isInView(one));
    return parts.toSorted((one, other) => areaOf(other) - areaOf(one))[0];
  }
  const before = target.scrollTop;
  target.scrollBy({ top: sign * (amount ?? target.clientHeight), behavior: "instant" });
  const above = Math.round(target.scrollTop);
  const below = Math.max(0, Math.round(target.scrollHeight - target.clientHeight - target.scrollTop));
  return { moved: Math.round(target.scrollTop - before), above, below };
}

/** Runs in the page, on an element: scrolls the nearest scrollable part around it. */
export function scrollElement(element: PageElement, { amount, sign }: ScrollOrder): ScrollResult {
  const { ownerDocument } = element;
  const root = ownerDocument.scrollingElement ?? ownerDocument.documentElement;
  let target: PageElement = element;
  const scrolls = (one: PageElement) =>
    one.scrollHeight > one.clientHeight + 1 &&
    !/visible|clip/.test(ownerDocument.defaultView?.getComputedStyle(one).overflowY ?? "visible");
  while (target !== root && !scrolls(target)) target = target.parentElement ?? root;
  const before = target.scrollTop;
  target.scrollBy({ top: sign * (amount ?? target.clientHeight), behavior: "instant" });
  const above = Math.round(target.scrollTop);
  const below = Math.max(0, Math.round(target.scrollHeight - target.clientHeight - target.scrollTop));
  return { moved: Math.round(target.scrollTop - before), above, below };
}
