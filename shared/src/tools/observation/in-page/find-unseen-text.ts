import type { PageDocument, PageElement, PageNode } from "./dom.ts";
import type { ElementList } from "./element-list.ts";
import type { Visibility } from "./visibility.ts";

declare const document: PageDocument;

/** Some elements of a list, by their numbers. */
export type SomeElements = { readonly list: ElementList; readonly numbers: readonly number[] };

/**
 * Runs in the page, on a `Visibility`: the texts in the document, or in some elements, that no
 * person could see there. Leaves out a text that is visible anywhere among them. Bounded.
 */
export function findUnseenText(visibility: Visibility, among?: SomeElements): string[] {
  const seen = new Set<string>();
  const unseen = new Set<string>();
  const all: readonly (PageNode | null | undefined)[] =
    among === undefined ? [document.body] : among.numbers.map((number) => among.list.elements[number]);
  const waiting = all.filter((node): node is PageNode => node !== null && node !== undefined);
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const element = node as PageElement;
    if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|OPTION|TEXTAREA)$/i.test(element.tagName ?? "")) continue;
    const texts = Array.from(node.childNodes).flatMap(({ nodeType, nodeValue }) =>
      nodeType === 3 ? [(nodeValue ?? "").replace(/[\s\u200b]+/g, " ").trim()] : [],
    );
    if (texts.some((text) => text !== "")) {
      const found = node.nodeType === 1 && !visibility.sees(element) ? unseen : seen;
      for (const text of texts) if (text !== "") found.add(text);
    }
    for (const child of Array.from(node.childNodes)) if (child.nodeType === 1) waiting.push(child);
    if (element.shadowRoot) waiting.push(element.shadowRoot);
  }
  const shown = [...seen].join("\n");
  return [...unseen].filter((text) => !shown.includes(text)).slice(0, 400);
}
