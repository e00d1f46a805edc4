import type { PageElement, PageStyle, PageWindow } from "./dom.ts";
import { isActing, isInside, isPointerRoot, isUnlabelled, marksOf, whatIs } from "./drawn-element.ts";
import type { ElementNumbers } from "./element-numbers.ts";
import { isClipped } from "./is-clipped.ts";
import type { Names } from "./outline/names.ts";
import type { Roles } from "./outline/roles.ts";
import { topModal } from "./outline/states.ts";
import type { Reader } from "./reader.ts";

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
  /** Set when nothing tells that a click on it does something. */
  readonly still: boolean;
  /** Set when it is scrolled or clipped out of view. */
  readonly clipped: boolean;
  /** Set when an open dialog makes it inert. */
  readonly behind?: boolean;
};

/** What drawn elements are found with. */
export type DrawnParts = {
  readonly reader: Reader;
  readonly roles: Roles;
  readonly names: Names;
  readonly numbers: ElementNumbers;
};

/**
 * Runs in the page: the first `most` elements that a person sees in the window and an outline of
 * texts and roles lacks: icons, handles, shapes, coloured boxes, clickable words in a text, words
 * in a drawing.
 */
export function findDrawnElements({ reader, roles, names, numbers }: DrawnParts, most: number): DrawnElement[] {
  const found: DrawnElement[] = [];
  /** Whether drawings hold few words: then their look and place matter. */
  const fewWords = reader.all("svg text").length <= 20;
  const modal = topModal(reader);
  const all = reader.all("body *");
  for (let index = 0; index < all.length && found.length < most; index++) {
    const element = all[index];
    if (element === undefined) continue;
    const place = placeInWindow(reader, element);
    if (place === undefined || !isWordless(reader, element, fewWords)) continue;
    const word = reader.text(element).trim();
    const what = whatIs(reader, element);
    const colour = isShape(reader, element)
      ? (reader.attribute(element, "fill") ?? reader.style(element).fill)
      : reader.style(element).backgroundColor;
    found.push({
      number: numbers.of(element, roles.of(element) || "generic", names.of(element).name),
      what: word === "" ? what : `${what} "${word.slice(0, 60)}"`,
      colour: colour.slice(0, 40),
      ...place,
      beside: word === "" ? wordsBeside(reader, element) : "",
      outlined:
        isUnlabelled(reader, element) || (word === "" && !isShape(reader, element) && isPointerRoot(reader, element)),
      still: isStill(reader, element),
      clipped: isClipped(reader, element),
      behind: modal?.contains(element) === false,
    });
  }
  return found;
}

/** Runs in the page: whether nothing tells that a click on an element does something. */
export function isStill(reader: Reader, element: PageElement): boolean {
  const told = ["onclick", "tabindex", "draggable"].some((name) => reader.attribute(element, name) !== null);
  return !told && reader.style(element).cursor !== "pointer" && !isActing(reader, element);
}

/**
 * Runs in the page: where an element's middle is, if it is in the window and no part of its ground.
 */
export function placeInWindow(
  reader: Reader,
  element: PageElement,
): Pick<DrawnElement, "x" | "y" | "width" | "height"> | undefined {
  const { left, top, width, height } = reader.box(element);
  const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)];
  if (width < 3 || height < 3 || x < 0 || y < 0 || x > window.innerWidth || y > window.innerHeight) return undefined;
  if (width * height > (window.innerWidth * window.innerHeight) / 4) return undefined;
  return { x, y, width: Math.round(width), height: Math.round(height) };
}

/** Runs in the page: whether a person sees something in an element that no outline tells. */
export function isWordless(reader: Reader, element: PageElement, fewWords: boolean): boolean {
  const tag = reader.tag(element);
  if (/^(?:SCRIPT|STYLE|SVG|G|DEFS|BR|HR|OPTION|BODY)$/.test(tag)) return false;
  const outlined = "a[href],button,input,select,textarea,img,label,iframe,[role],[aria-label],[title]";
  const isControl = isActing(reader, element);
  const isSilentControl = isControl && isUnlabelled(reader, element);
  if (!isSilentControl && (isControl || reader.matches(element, outlined))) return false;
  const word = reader.text(element).trim();
  const children = word === "" ? [] : reader.children(element);
  if (word !== "" && (children.length !== 1 || children[0]?.nodeType !== 3)) return false;
  const style = reader.style(element);
  if (style.pointerEvents === "none") return false;
  if (!isSilentControl) {
    // A clickable word in a text that is not a link.
    const isLinked = () => style.display === "inline" && isPointerRoot(reader, element);
    if (!(word === "" ? hasLook(reader, element, style) : (fewWords && tag === "TEXT") || isLinked())) return false;
    if (word === "" && isInside(reader, element)) return false;
  }
  return element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

/** Runs in the page: whether an element without words is drawn at all. */
export function hasLook(reader: Reader, element: PageElement, style: PageStyle): boolean {
  const has = (name: string) => reader.attribute(element, name) !== null;
  if (isShape(reader, element) || has("tabindex") || has("onclick")) return true;
  if (element.querySelectorAll("svg").length > 0 && isPointerRoot(reader, element)) return true;
  const [before, after] = ["::before", "::after"].map((part) => window.getComputedStyle(element, part));
  if ([style, before, after].some((one) => one !== undefined && one.backgroundImage !== "none")) return true;
  if ([style, before, after].some((one) => /\S/.test(one?.content.replace(/^(?:none|normal|"\s*")$/, "") ?? "")))
    return true;
  if (style.borderTopStyle !== "none" && style.borderLeftStyle !== "none" && !isBlankCell(reader, element, style))
    return true;
  const parent = reader.parent(element);
  if (parent === undefined || /^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor)) return false;
  return style.backgroundColor !== reader.style(parent).backgroundColor;
}

/** Runs in the page: whether it is an empty cell of a table of words, which only its lines show. */
export function isBlankCell(reader: Reader, element: PageElement, style: PageStyle): boolean {
  if (!/^T[DH]$/.test(reader.tag(element)) || style.cursor === "pointer" || marksOf(reader, element) !== "")
    return false;
  const table = reader.closest(element, "table");
  return table !== null && reader.text(table).trim() !== "";
}

/** Runs in the page. */
export function isShape(reader: Reader, element: PageElement): boolean {
  return /^(?:CIRCLE|ELLIPSE|RECT|POLYGON|POLYLINE|PATH|LINE|CANVAS|TEXT)$/.test(reader.tag(element));
}

/** Runs in the page: the words of the nearest ancestor that has any, when they are few. */
export function wordsBeside(reader: Reader, element: PageElement): string {
  let at = reader.parent(element);
  for (let level = 0; at !== undefined && level < 5; level++) {
    // biome-ignore lint/performance/useDomNodeTextContent: what cannot be seen does not count
    const text = (at.innerText ?? "").replace(/\s+/g, " ").trim();
    if (text !== "") return text.length > 300 ? "" : text.slice(0, 40).replace(/[\uD800-\uDBFF]$/, "");
    at = reader.parent(at);
  }
  return "";
}
