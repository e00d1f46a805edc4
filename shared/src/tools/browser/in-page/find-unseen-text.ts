import type { PageDocument, PageElement, PageNode, PageStyle, PageWindow } from "./dom.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * Runs in the page: the texts that are in the document and that no person could see there, because they are transparent, as small as a dot,
 * clipped away, outside the page, or of the colour of what is behind them. A text that can be seen anywhere is not among them. Bounded.
 */
export function findUnseenText(): string[] {
  const seen = new Set<string>();
  const unseen = new Set<string>();
  const alphaOf = (color: string) => Number(/^rgba\((?:[^,]+,){3}([^)]+)\)$/.exec(color)?.[1] ?? 1);
  const clippedAway = (style: PageStyle, element: PageElement) => {
    if (/rect\((?:[01](?:px)?,? ?){4}\)/.test(style.clip) || /inset\((?:50|100)%/.test(style.clipPath)) return true;
    return style.overflow !== "visible" && (element.clientWidth < 3 || element.clientHeight < 3);
  };
  type Surroundings = { readonly clipped: boolean; readonly scrolled: boolean; readonly behind: string | undefined };
  const known = new Map<PageElement, Surroundings>();
  /** Whether an element or what it is in clips it away or was scrolled, and the colour it stands on: undefined over a picture. */
  const surroundings = (element: PageElement): Surroundings => {
    const cached = known.get(element);
    if (cached !== undefined) return cached;
    const parent = element.parentElement;
    const outer =
      parent === null ? { clipped: false, scrolled: false, behind: "rgb(255, 255, 255)" } : surroundings(parent);
    const style = window.getComputedStyle(element);
    const clipped = outer.clipped || (style.display !== "inline" && clippedAway(style, element));
    const plain = alphaOf(style.backgroundColor) === 0 ? outer.behind : style.backgroundColor;
    const scrolled = outer.scrolled || (parent !== null && (element.scrollTop > 0 || element.scrollLeft > 0));
    const found = { clipped, scrolled, behind: style.backgroundImage === "none" ? plain : undefined };
    known.set(element, found);
    return found;
  };
  const visible = (element: PageElement) => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const style = window.getComputedStyle(element);
    if (Number.parseFloat(style.fontSize) < 2 || Number.parseFloat(style.textIndent) < -900) return false;
    const box = element.getBoundingClientRect();
    const { clipped, scrolled, behind } = surroundings(element);
    if (!scrolled && (box.right + window.scrollX <= 0 || box.bottom + window.scrollY <= 0)) return false;
    // A drawing's text has its colour elsewhere, and stands on what is drawn.
    if (element.closest("svg") !== null) return !clipped;
    return !clipped && alphaOf(style.color) > 0.05 && style.color !== behind;
  };
  const waiting: PageNode[] = document.body === null ? [] : [document.body];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const element = node as PageElement;
    if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|TITLE|OPTION|TEXTAREA)$/i.test(element.tagName ?? "")) continue;
    const texts = Array.from(node.childNodes).flatMap(({ nodeType, nodeValue }) =>
      nodeType === 3 ? [(nodeValue ?? "").replace(/[\s\u200b]+/g, " ").trim()] : [],
    );
    if (texts.some((text) => text !== "")) {
      const found = node.nodeType === 1 && !visible(element) ? unseen : seen;
      for (const text of texts) if (text !== "") found.add(text);
    }
    for (const child of Array.from(node.childNodes)) if (child.nodeType === 1) waiting.push(child);
    if (element.shadowRoot) waiting.push(element.shadowRoot);
  }
  const shown = [...seen].join("\n");
  return [...unseen].filter((text) => !shown.includes(text)).slice(0, 400);
}
