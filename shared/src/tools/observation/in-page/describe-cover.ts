import type { PageElement } from "./dom.ts";

/**
 * Runs in the page, on an element: what covers its middle, as a tag with its text; "" when nothing
 * does.
 */
export function describeCover(element: PageElement): string {
  const { left, top, width, height } = element.getBoundingClientRect();
  const over = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
  if (over === null || element.contains(over) || over.contains(element)) return "";
  const name = over.getAttribute("aria-label") ?? over.textContent ?? "";
  const text = name.replace(/\s+/g, " ").trim().slice(0, 80);
  return `a ${over.tagName.toLowerCase()} element${text === "" ? "" : ` that reads ${JSON.stringify(text)}`}`;
}
