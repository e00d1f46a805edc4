import type { PageElement } from "./dom.ts";
import type { Reader } from "./reader.ts";
import type { Visibility } from "./visibility.ts";

/**
 * Runs in the page: the texts in the document, or in some of its elements, that no person could see
 * there. Leaves out a text that is visible anywhere else in it, also in a field, such as the entry
 * that a page announces to screen readers when it writes it. Bounded.
 */
export function findUnseenText(reader: Reader, visibility: Visibility, among?: ReadonlySet<PageElement>): string[] {
  const seen = new Set<string>();
  const unseen = new Set<string>();
  const body = reader.body();
  const waiting: PageElement[] = body === null ? [] : [body];
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    const written = fieldText(reader, element);
    if (written !== "" && visibility.sees(element)) seen.add(written);
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

/** Runs in the page: what a field shows of what was written or chosen in it. */
export function fieldText(reader: Reader, element: PageElement): string {
  const tag = reader.tag(element);
  const chosen = tag === "SELECT" ? Array.from(element.options ?? []).filter(({ selected }) => selected) : [];
  if (tag === "SELECT") return chosen.map(({ text }) => text.replace(/\s+/g, " ").trim()).join("\n");
  if (tag !== "TEXTAREA" && (tag !== "INPUT" || /^(?:password|hidden|checkbox|radio)$/.test(element.type ?? "")))
    return "";
  return String(element.value ?? "")
    .replace(/[\s\u200b]+/g, " ")
    .trim();
}
