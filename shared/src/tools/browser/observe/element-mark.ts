import type { AriaNode } from "./aria-node.ts";
import { holdsValue } from "./item.ts";

const markLength = 100;

/** What an element is known again by: its name, or the beginning of what stands in it, blanks left out. A field is not known by its value. */
export function markOf(node: AriaNode): string {
  if (node.name !== "" || holdsValue(node.role)) return squeezed(node.name);
  return squeezed(textOf(node));
}

/** The beginning of a text without blanks. */
export function squeezed(text: string): string {
  return text.replace(/[\s\u200b]+/g, "").slice(0, markLength);
}

function textOf(node: AriaNode): string {
  let text = node.text ?? "";
  for (const child of node.children ?? []) {
    if (text.length > 4 * markLength) break;
    text += typeof child === "string" ? child : child.name !== "" ? child.name : textOf(child);
  }
  return text;
}
