import { holdsValue } from "./item.ts";

/** What is chosen, written and allowed in an element. */
export type AriaState = {
  readonly checked?: true | "mixed" | undefined;
  readonly pressed?: true | "mixed" | undefined;
  readonly invalid?: true | string | undefined;
  readonly disabled?: true | undefined;
  readonly expanded?: true | undefined;
  readonly selected?: true | undefined;
  readonly readOnly?: true | undefined;
  readonly level?: number | undefined;
  readonly url?: string | undefined;
  readonly placeholder?: string | undefined;
  /** Whether nothing else of its document can be used while it is open. */
  readonly modal?: true | undefined;
};

/** An element of a document's outline, with what is in it. */
export type AriaNode = AriaState & {
  readonly role: string;
  readonly name: string;
  /** All that is in it, if that is one text; what is written in a field. */
  readonly text?: string | undefined;
  /** The number of an element that can be acted on. */
  readonly ref?: number | undefined;
  readonly box: AriaBox;
  readonly cursor?: "pointer" | undefined;
  readonly ariaHidden?: true | undefined;
  /** Whether it has the focus. */
  readonly active?: true | undefined;
  /** Without the content of an iframe, which is another document. */
  readonly children?: readonly (string | AriaNode)[];
};

/** Where an element is in its document's window, in pixels. */
export type AriaBox = readonly [left: number, top: number, width: number, height: number];

const markLength = 100;

/** Parts of a page, which stay the same whatever is said in them. */
const part = /^(?:alertdialog|banner|complementary|contentinfo|dialog|main|navigation)$/;

/**
 * What identifies an element again: its name, or the beginning of its text, without blanks. A
 * field's value does not identify it, nor what is in a part of the page.
 */
export function markOf(node: AriaNode): string {
  if (node.name !== "" || holdsValue(node.role) || part.test(node.role)) return squeezed(node.name);
  return squeezed(nodeText(node));
}

/** The beginning of a text without blanks. */
function squeezed(text: string): string {
  return text.replace(/[\s\u200b]+/g, "").slice(0, markLength);
}

/** The beginning of what is in a node, in words. */
export function nodeText(node: AriaNode): string {
  let text = node.text ?? "";
  for (const child of node.children ?? []) {
    if (text.length > 4 * markLength) break;
    text += ` ${typeof child === "string" ? child : child.name !== "" ? child.name : nodeText(child)}`;
  }
  return text.trim();
}
