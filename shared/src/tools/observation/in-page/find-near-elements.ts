import type { PageDocument, PageElement, PageWindow } from "./dom.ts";
import type { ElementList } from "./element-list.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/** What is searched for among very many elements: a text, or what is in the window. */
export type NearQuery = { readonly text: string | undefined; readonly most: number };

/** An element's description of itself. */
export type NearElement = {
  readonly number: number;
  readonly tag: string;
  readonly type: string;
  readonly role: string;
  readonly name: string;
  /** Such as `disabled`. */
  readonly states: readonly string[];
  /** A field's value; for a password, only that there is one. */
  readonly value: string;
  readonly top: number;
  readonly bottom: number;
};

/**
 * Runs in the page, on a list: the actionable elements, headings, and the innermost elements with
 * text that are in the window or have the text that is searched for. Cheap on pages of any size.
 */
export function findNearElements(list: ElementList, { text, most }: NearQuery): NearElement[] {
  const wanted = text?.toLowerCase();
  const found: NearElement[] = [];
  const telling = /^(?:A|BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY|H[1-6]|IFRAME|LABEL)$/;
  const silent = /^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|OPTION)$/;
  const statesOf = (element: PageElement) => {
    const says = (name: string) => element.getAttribute(`aria-${name}`) === "true";
    const states: string[] = [];
    const canBeReadOnly = !/^(?:checkbox|radio|range|button|submit|reset|file|color)$/.test(element.type ?? "");
    if (says("readonly") || (canBeReadOnly && element.matches("input[readonly],textarea[readonly]")))
      states.push("read-only");
    if (says("checked") || element.checked === true) states.push("checked");
    if (says("disabled") || element.matches(":disabled")) states.push("disabled");
    return states;
  };
  const heldBy = (element: PageElement) => {
    if (element.tagName === "SELECT") return element.options?.[element.selectedIndex ?? -1]?.text.trim() ?? "";
    const holds = /^(?:TEXTAREA|INPUT)$/.test(element.tagName);
    if (!holds || /^(?:checkbox|radio|submit|button|reset|image)$/.test(element.type ?? "")) return "";
    const value = String(element.value ?? "");
    return element.type === "password" && value !== "" ? "•••" : value.replace(/\s+/g, " ").slice(0, 500);
  };
  const all = document.getElementsByTagName("*");
  for (let index = 0; index < all.length && found.length < most; index++) {
    const element = all[index];
    if (element === undefined || silent.test(element.tagName)) continue;
    const tells = telling.test(element.tagName) || element.hasAttribute("role") || element.hasAttribute("onclick");
    const own = Array.from(element.childNodes).some(
      ({ nodeType, nodeValue }) => nodeType === 3 && /\S/.test(nodeValue ?? ""),
    );
    if (!tells && !own) continue;
    // Only for fields: on buttons, the time for looking up labels grows with the page.
    const labels = /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName) ? element.labels : null;
    const label = element.getAttribute("aria-label") ?? labels?.[0]?.textContent ?? "";
    const words = [label, element.textContent, element.getAttribute("placeholder"), element.getAttribute("title")];
    if (wanted !== undefined && !words.some((word) => word?.toLowerCase().includes(wanted))) continue;
    const { left, right, top, bottom } = element.getBoundingClientRect();
    if (right - left < 2 || bottom - top < 2) continue;
    const near = bottom > 0 && top < window.innerHeight && right > 0 && left < window.innerWidth;
    if (wanted === undefined && !near) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    // biome-ignore lint/performance/useDomNodeTextContent: what is folded away does not count
    const named = [label, element.innerText, ...words.slice(2)];
    const number = list.numbers.get(element) ?? list.elements.push(element) - 1;
    list.numbers.set(element, number);
    found.push({
      number,
      tag: element.tagName.toLowerCase(),
      type: String(element.type ?? "").toLowerCase(),
      role: element.getAttribute("role") ?? "",
      name: (named.find((word) => word?.trim()) ?? "").replace(/\s+/g, " ").trim().slice(0, 500),
      states: statesOf(element),
      value: heldBy(element),
      top,
      bottom,
    });
  }
  return found;
}
