import type { PageElement } from "./dom.ts";

/** An element's description of itself. */
export type ElementSelf = {
  readonly origin: number;
  readonly connected: boolean;
  readonly tag: string;
  readonly type: string;
  readonly role: string;
  readonly editable: boolean;
  /** Every name it may go by, and its text. */
  readonly words: readonly string[];
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
};

/** Runs in the page, on an element. */
export function describeElement(element: PageElement): ElementSelf {
  const { ownerDocument } = element;
  const attribute = (name: string) => element.getAttribute(name) ?? "";
  const labelled = attribute("aria-labelledby")
    .split(/\s+/)
    .map((id) => (id === "" ? "" : (ownerDocument.getElementById(id)?.textContent ?? "")))
    .join(" ");
  const labels = Array.from(element.labels ?? [], ({ textContent }) => textContent ?? "").join(" ");
  const type = String(element.type ?? "").toLowerCase();
  const ownValue = /^(?:submit|button|reset)$/.test(type) && element.tagName === "INPUT" ? String(element.value) : "";
  const texts = [(element.textContent ?? "").slice(0, 1_000), ownValue];
  const words = [
    attribute("aria-label"),
    labelled,
    labels,
    attribute("alt"),
    attribute("title"),
    attribute("placeholder"),
    ...texts,
  ];
  const { left, top, width, height } = element.getBoundingClientRect();
  return {
    origin: ownerDocument.defaultView?.performance.timeOrigin ?? 0,
    connected: element.isConnected,
    tag: element.tagName.toLowerCase(),
    type,
    role: attribute("role"),
    editable: element.isContentEditable === true,
    words: words.map((word) => word.slice(0, 1_000)),
    box: { x: left, y: top, width, height },
  };
}

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
