import type { PageElement, PageWindow } from "./dom.ts";

declare const window: PageWindow;

/**
 * Elements of a document by number: an element keeps its number as long as the list exists. The
 * list is kept in the page, where only we can reach it.
 */
export type ElementList = {
  readonly numbers: { get(key: object): number | undefined; set(key: object, to: number): unknown };
  readonly elements: PageElement[];
  /**
   * An element's tag and marks, and those of the first element in it that has any:
   * `button#del i.icon.trash`.
   */
  whatIs(element: PageElement): string;
  /** Whether its role makes it actionable and no word says what it does. */
  isUnlabelled(element: PageElement): boolean;
  /** Whether the cursor becomes a pointer over it, but not over its parent. */
  isPointerRoot(element: PageElement): boolean;
  /**
   * Whether it is drawn inside an actionable element that an outline has, whose ref serves for
   * both.
   */
  isInside(element: PageElement): boolean;
};

/** Runs in the page: an empty list. */
export function newElementList(): ElementList {
  const acting =
    "a[href],button,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=radio],[role=switch]";
  const telling = [
    "data-action",
    "data-command",
    "data-icon",
    "data-name",
    "data-testid",
    "name",
    "href",
    "src",
    "onclick",
  ];
  const marksOf = (element: PageElement) => {
    const classes = (element.getAttribute("class") ?? "").trim().split(/\s+/).filter(Boolean).slice(0, 3);
    const told = telling.flatMap((name) => {
      const value = element.tagName === "A" ? null : element.getAttribute(name);
      return value === null || value === "" ? [] : [`[${name}=${value.slice(-40)}]`];
    });
    const id = element.id === "" ? "" : `#${element.id}`;
    return `${id}${classes.map((name) => `.${name}`).join("")}${told.slice(0, 2).join("")}`;
  };
  const isPointerRoot = (element: PageElement) => {
    const { parentElement } = element;
    if (window.getComputedStyle(element).cursor !== "pointer") return false;
    return parentElement === null || window.getComputedStyle(parentElement).cursor !== "pointer";
  };
  return {
    numbers: new WeakMap<object, number>(),
    elements: [],
    whatIs(element) {
      const inner = Array.from(element.querySelectorAll("*")).find((one) => marksOf(one) !== "");
      const within = inner === undefined ? "" : ` ${inner.tagName.toLowerCase()}${marksOf(inner)}`;
      return `${element.tagName.toLowerCase()}${marksOf(element)}${within}`.slice(0, 80);
    },
    isUnlabelled(element) {
      if (!element.matches(acting) || (element.textContent ?? "").trim() !== "") return false;
      const labels = ["aria-label", "aria-labelledby", "title", "alt", "value"];
      if (labels.some((name) => (element.getAttribute(name) ?? "") !== "")) return false;
      return element.querySelectorAll("[aria-label],[title],[alt]:not([alt=''])").length === 0;
    },
    isPointerRoot,
    isInside(element) {
      if (element.hasAttribute("onclick") || element.hasAttribute("tabindex")) return false;
      if ((element.parentElement?.closest(acting) ?? null) !== null) return true;
      for (let at = element.parentElement; at !== null && at.querySelectorAll("*").length < 3; at = at.parentElement)
        if (isPointerRoot(at)) return true;
      return false;
    },
  };
}

/** Runs in the page, on a list: the element with a number. */
export function listedElement({ elements }: ElementList, number: number): PageElement | undefined {
  return elements[number];
}
