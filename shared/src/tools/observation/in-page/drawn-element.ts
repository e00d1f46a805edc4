import type { PageElement } from "./dom.ts";
import type { Reader } from "./reader.ts";

/** Runs in the page: the selector of elements that can be acted on. */
export function actingSelector(): string {
  return "a[href],button,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=radio],[role=switch]";
}

/** Runs in the page: whether its role makes an element actionable. */
export function isActing(reader: Reader, element: PageElement): boolean {
  return reader.matches(element, actingSelector());
}

/** Runs in the page: whether its role makes it actionable and no word says what it does. */
export function isUnlabelled(reader: Reader, element: PageElement): boolean {
  if (!isActing(reader, element) || reader.text(element).trim() !== "") return false;
  const labels = ["aria-label", "aria-labelledby", "title", "alt", "value"];
  if (labels.some((name) => (reader.attribute(element, name) ?? "") !== "")) return false;
  return element.querySelectorAll("[aria-label],[title],[alt]:not([alt=''])").length === 0;
}

/** Runs in the page: whether the cursor becomes a pointer over it, but not over its parent. */
export function isPointerRoot(reader: Reader, element: PageElement): boolean {
  if (reader.style(element).cursor !== "pointer") return false;
  const parent = reader.parent(element);
  return parent === undefined || reader.style(parent).cursor !== "pointer";
}

/**
 * Runs in the page: whether it is drawn inside an actionable element that an outline has, whose ref
 * serves for both.
 */
export function isInside(reader: Reader, element: PageElement): boolean {
  if (["onclick", "tabindex"].some((name) => reader.attribute(element, name) !== null)) return false;
  const parent = reader.parent(element);
  if (parent !== undefined && reader.closest(parent, actingSelector()) !== null) return true;
  for (let at = parent; at !== undefined && at.querySelectorAll("*").length < 3; at = reader.parent(at))
    if (isPointerRoot(reader, at)) return true;
  return false;
}

/**
 * Runs in the page: what an element, or the nearest of the few around it, is called by an attribute
 * or, in a drawing, by its title.
 */
export function nameAround(reader: Reader, element: PageElement): string {
  let at: PageElement | undefined = element;
  for (let level = 0; at !== undefined && level < 4; level++, at = reader.parent(at)) {
    const told = ["aria-label", "title", "alt"].map((name) => (at && reader.attribute(at, name)) ?? "");
    const title = Array.from(reader.children(at)).find(
      (child) => child.nodeType === 1 && reader.tag(child as PageElement) === "TITLE",
    );
    const name = [...told, title === undefined ? "" : reader.text(title)].find((text) => text.trim() !== "");
    if (name !== undefined) return name.replace(/\s+/g, " ").trim().slice(0, 60);
  }
  return "";
}

/**
 * Runs in the page: an element's tag and marks, and those of the first element in it that has any:
 * `button#del i.icon.trash`.
 */
export function whatIs(reader: Reader, element: PageElement): string {
  const inner = Array.from(element.querySelectorAll("*")).find((one) => marksOf(reader, one) !== "");
  const tagOf = (one: PageElement) => reader.tag(one).toLowerCase();
  const within = inner === undefined ? "" : ` ${tagOf(inner)}${marksOf(reader, inner)}`;
  return `${tagOf(element)}${marksOf(reader, element)}${within}`.slice(0, 80);
}

/** Runs in the page: its id, classes and the attributes that may tell what it is for. */
export function marksOf(reader: Reader, element: PageElement): string {
  const telling =
    reader.tag(element) === "A"
      ? []
      : ["data-action", "data-command", "data-icon", "data-name", "data-testid", "name", "href", "src", "onclick"];
  const told = telling.flatMap((name) => {
    const value = reader.attribute(element, name) ?? "";
    return value === "" ? [] : [`[${name}=${value.slice(-40)}]`];
  });
  const classes = (reader.attribute(element, "class") ?? "").trim().split(/\s+/).filter(Boolean).slice(0, 3);
  const id = reader.attribute(element, "id") ?? "";
  return `${id === "" ? "" : `#${id}`}${classes.map((name) => `.${name}`).join("")}${told.slice(0, 2).join("")}`;
}
