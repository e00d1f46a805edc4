import type { PageDocument, PageElement, PageStyle, PageWindow } from "./dom.ts";
import type { ElementList } from "./element-list.ts";

declare const document: PageDocument;
declare const window: PageWindow;

/**
 * A drawn element without words: what it is by its tag and class, its colour, and where its middle
 * is in the window.
 */
export type DrawnElement = {
  readonly number: number;
  readonly what: string;
  readonly colour: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly beside: string;
  /** Set when an outline has the element, though without a word. */
  readonly outlined: boolean;
};

/**
 * Runs in the page, on a list: the first `most` elements that a person sees in the window and an
 * outline of texts and roles lacks: icons, handles, shapes, coloured boxes, clickable words in a
 * text, words in a drawing.
 */
export function findDrawnElements(list: ElementList, most: number): DrawnElement[] {
  const found: DrawnElement[] = [];
  const outlined = "a[href],button,input,select,textarea,img,label,iframe,[role],[aria-label],[title]";
  const shape = /^(?:circle|ellipse|rect|polygon|polyline|path|line|canvas|text)$/i;
  const silent = /^(?:SCRIPT|STYLE|svg|g|defs|BR|HR|OPTION|BODY)$/i;
  const styleOf = (element: PageElement) => window.getComputedStyle(element);
  const drawn = (element: PageElement, style: PageStyle) => {
    if (shape.test(element.tagName) || element.hasAttribute("tabindex") || element.hasAttribute("onclick")) return true;
    const [before, after] = ["::before", "::after"].map((part) => window.getComputedStyle(element, part));
    if ([style, before, after].some((one) => one !== undefined && one.backgroundImage !== "none")) return true;
    if ([style, before, after].some((one) => /\S/.test(one?.content.replace(/^(?:none|normal|"\s*")$/, "") ?? "")))
      return true;
    if (style.borderTopStyle !== "none" && style.borderLeftStyle !== "none") return true;
    const parent = element.parentElement;
    if (parent === null || /^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor)) return false;
    return style.backgroundColor !== styleOf(parent).backgroundColor;
  };
  /** A clickable word in a text that is not a link. */
  const linked = (element: PageElement, style: PageStyle) =>
    style.display === "inline" &&
    style.cursor === "pointer" &&
    element.parentElement !== null &&
    styleOf(element.parentElement).cursor !== "pointer";
  /** Whether drawings hold few words: then their look and place matter. */
  const fewWords = (document.body?.querySelectorAll("svg text").length ?? 0) <= 20;
  /** The words of the nearest ancestor that has any, when they are few. */
  const beside = (element: PageElement) => {
    for (let at = element.parentElement, levels = 0; at !== null && levels < 5; at = at.parentElement, levels++) {
      // biome-ignore lint/performance/useDomNodeTextContent: what cannot be seen does not count
      const text = (at.innerText ?? "").replace(/\s+/g, " ").trim();
      if (text !== "") return text.length > 300 ? "" : text.slice(0, 40);
    }
    return "";
  };
  for (const element of Array.from(document.body?.querySelectorAll("*") ?? [])) {
    if (found.length >= most) break;
    const isActing = list.isUnlabelled(element);
    if (silent.test(element.tagName) || (element.matches(outlined) && !isActing)) continue;
    const { left, top, width, height } = element.getBoundingClientRect();
    const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)];
    if (width < 3 || height < 3 || x < 0 || y < 0 || x > window.innerWidth || y > window.innerHeight) continue;
    if (width * height > (window.innerWidth * window.innerHeight) / 4) continue;
    const word = (element.textContent ?? "").trim();
    if (word !== "" && (element.childNodes.length !== 1 || element.childNodes[0]?.nodeType !== 3)) continue;
    const style = styleOf(element);
    if (style.pointerEvents === "none") continue;
    const lettered = fewWords && element.tagName === "text";
    if (!isActing) {
      if (!(word === "" ? drawn(element, style) : lettered || linked(element, style))) continue;
      if (word === "" && list.isInside(element)) continue;
    }
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const number = list.numbers.get(element) ?? list.elements.push(element) - 1;
    list.numbers.set(element, number);
    const what = word === "" ? list.whatIs(element) : `${list.whatIs(element)} "${word.slice(0, 60)}"`;
    const colour = (
      shape.test(element.tagName) ? (element.getAttribute("fill") ?? style.fill) : style.backgroundColor
    ).slice(0, 40);
    found.push({
      number,
      what,
      colour,
      x,
      y,
      width: Math.round(width),
      height: Math.round(height),
      beside: word === "" ? beside(element) : "",
      outlined: isActing || (word === "" && !shape.test(element.tagName) && list.isPointerRoot(element)),
    });
  }
  return found;
}
