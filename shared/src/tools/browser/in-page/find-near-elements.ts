import type { PageDocument, PageElement, PageWindow } from "./dom.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/** What is looked for among very many elements: a text, or what is in the window. */
export type NearQuery = { readonly text: string | undefined; readonly most: number };

/**
 * Runs in the page: the elements that can be acted on, headings, and the innermost elements with text, in or near the window or with the text
 * that is looked for. Cheap on pages of any size.
 */
export function findNearElements({ text, most }: NearQuery): PageElement[] {
  const wanted = text?.toLowerCase();
  const chosen: PageElement[] = [];
  const telling = /^(?:A|BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY|H[1-6]|IFRAME|LABEL)$/;
  const all = document.getElementsByTagName("*");
  for (let index = 0; index < all.length && chosen.length < most; index++) {
    const element = all[index];
    if (element === undefined) continue;
    const tells = telling.test(element.tagName) || element.hasAttribute("role") || element.hasAttribute("onclick");
    const own = Array.from(element.childNodes).some(
      ({ nodeType, nodeValue }) => nodeType === 3 && /\S/.test(nodeValue ?? ""),
    );
    if (!tells && !own) continue;
    if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|OPTION)$/.test(element.tagName)) continue;
    if (
      wanted !== undefined &&
      !`${element.textContent} ${element.getAttribute("aria-label")}`.toLowerCase().includes(wanted)
    )
      continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const near = box.bottom > 0 && box.top < window.innerHeight && box.right > 0 && box.left < window.innerWidth;
    if (wanted === undefined && !near) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    chosen.push(element);
  }
  return chosen;
}
