import type { PageElement } from "../dom.ts";

declare const KeyboardEvent: new (kind: string, options: { readonly key: string; readonly bubbles: boolean }) => object;

/**
 * Runs in the page, on a field that was written into: dispatches a key release, and returns the
 * field's text, which is nothing a person typed any more.
 */
export function endTyping(element: PageElement): string {
  element.removeAttribute("data-manyhands-covered");
  element.style?.removeProperty("-webkit-text-security");
  // biome-ignore lint/performance/useDomNodeTextContent: the lines of an editor are those that are drawn.
  const text = element.isContentEditable === true ? (element.innerText ?? "").trimEnd() : String(element.value ?? "");
  element.dispatchEvent(new KeyboardEvent("keyup", { key: text.slice(-1), bubbles: true }));
  return text;
}

/** Runs in the page, on a slider that it draws itself: its value, once it had the time to move. */
export async function readSlider(element: PageElement): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 20);
  await promise;
  return Number(element.getAttribute("aria-valuenow"));
}

/** An entry of a dropdown. */
export type FieldOption = {
  readonly index: number;
  readonly text: string;
  readonly value: string;
  readonly disabled: boolean;
  readonly selected: boolean;
};

/** Runs in the page, on a `select`: its entries. */
export function readOptions(element: PageElement): FieldOption[] {
  return Array.from(element.options ?? [], ({ text, value, disabled, selected }, index) => ({
    index,
    text: text.trim().replace(/\s+/g, " "),
    value,
    disabled,
    selected,
  }));
}

/** Runs in the page, on an element: the address it leads to; undefined when it is not in a link. */
export function readLink(element: PageElement): string | undefined {
  return element.closest("a[href]")?.href;
}
