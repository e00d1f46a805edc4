import type { PageElement, PageNode } from "./dom.ts";
import type { Reader } from "./reader.ts";

/**
 * Runs in the page: all that the document shows as words, shadow trees included, and what stands in
 * fields that are not covered.
 */
export function allWords(reader: Reader): string {
  const words: string[] = [];
  const written: string[] = [];
  const body = reader.body();
  const waiting: PageNode[] = body === null ? [] : [body];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeType === 3) words.push(node.nodeValue ?? "");
    if (node.nodeType !== 1) continue;
    const element = node as PageElement;
    if (isOpenField(reader, element)) written.push(String(element.value ?? ""));
    for (const child of Array.from(reader.children(element)).reverse()) waiting.push(child);
  }
  return [words.join(""), ...written].join("\n");
}

/** Runs in the page: whether what is written in an element is drawn as it is. */
export function isOpenField(reader: Reader, element: PageElement): boolean {
  if (!/^(?:INPUT|TEXTAREA)$/.test(reader.tag(element)) || element.type === "password") return false;
  return reader.attribute(element, "data-manyhands-covered") === null;
}
