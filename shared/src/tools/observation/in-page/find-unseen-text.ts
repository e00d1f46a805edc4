import type { PageElement } from "./dom.ts";
import type { Reader } from "./reader.ts";
import type { Visibility } from "./visibility.ts";

/**
 * Runs in the page: the texts in the document, or in some of its elements, that no person could see
 * there. Leaves out a text that is visible anywhere else in it. Bounded.
 */
export function findUnseenText(reader: Reader, visibility: Visibility, among?: ReadonlySet<PageElement>): string[] {
  const seen = new Set<string>();
  const unseen = new Set<string>();
  const body = reader.body();
  const waiting: PageElement[] = body === null ? [] : [body];
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|OPTION|TEXTAREA)$/.test(reader.tag(element))) continue;
    let found: Set<string> | undefined;
    for (const child of Array.from(reader.children(element))) {
      if (child.nodeType === 1 && among?.has(child as PageElement) !== false) waiting.push(child as PageElement);
      if (child.nodeType !== 3) continue;
      const text = (child.nodeValue ?? "").replace(/[\s\u200b]+/g, " ").trim();
      if (text === "") continue;
      found ??= visibility.sees(element) ? seen : unseen;
      found.add(text);
    }
  }
  const shown = unseen.size === 0 ? "" : [...seen].join("\n");
  return [...unseen].filter((text) => !shown.includes(text)).slice(0, 400);
}
