import type { AriaNode } from "../../aria-node.ts";
import type { PageElement, PageWindow } from "../dom.ts";
import type { ElementNumbers } from "../element-numbers.ts";
import type { Reader } from "../reader.ts";
import { addedText, type Names } from "./names.ts";
import { finishedNode, mergedTexts, type OutlineChild, withoutInnerPointers } from "./outline-node.ts";
import type { Roles } from "./roles.ts";
import { chosenFiles, type States } from "./states.ts";

declare const window: PageWindow;

/** What an outline is made with. */
export type OutlineParts = {
  readonly reader: Reader;
  readonly roles: Roles;
  readonly names: Names;
  readonly states: States;
  readonly numbers: ElementNumbers;
};

/** What an element is in. */
type Inside = {
  /** Whether something clickable is around it. */
  readonly pointer: boolean;
  /** The name of the nearest element that has a node. */
  readonly name: string;
};

/** A walk through a document. */
type Walk = OutlineParts & {
  readonly visited: Set<PageElement>;
  readonly focused: PageElement | undefined;
  /**
   * After so many elements, those far from the window are left out, but for those with this text.
   */
  readonly most: number;
  readonly find: string | undefined;
  /** Whether any were left out. */
  isCut: boolean;
};

/** An element's outline, which elements it was made of, and whether any were left out. */
export type ElementOutline = {
  readonly nodes: readonly OutlineChild[];
  readonly visited: ReadonlySet<PageElement>;
  readonly isCut: boolean;
};

/**
 * Runs in the page: an element with what is in it, as one node, or as the nodes and texts that it
 * consists of. After `most` elements, only those near the window, and those with the text that is
 * searched for, are looked at.
 */
export function outlineOf(
  parts: OutlineParts,
  element: PageElement,
  { most, find }: { readonly most: number; readonly find: string | undefined },
): ElementOutline {
  const out: OutlineChild[] = [];
  const focused = parts.reader.focused();
  const walk = { ...parts, visited: new Set<PageElement>(), focused, most, find, isCut: false };
  addElement(walk, element, out, { pointer: false, name: "" });
  const nodes = mergedTexts(out).map((child) => withoutInnerPointers(child, false));
  return { nodes, visited: walk.visited, isCut: walk.isCut };
}

/** Runs in the page: whether an element is more than a screen out of the window. */
export function isFar(reader: Reader, element: PageElement): boolean {
  const { top, bottom, height } = reader.box(element);
  return height > 0 && (bottom < -window.innerHeight || top > 2 * window.innerHeight);
}

/** Runs in the page: whether a text, in small letters, is in an element, or in what names it. */
export function mentions(reader: Reader, element: PageElement, text: string): boolean {
  if (reader.text(element).toLowerCase().includes(text)) return true;
  const naming = ["aria-label", "placeholder", "title", "alt"].map((name) => `[${name}*=${JSON.stringify(text)} i]`);
  return reader.matches(element, naming.join()) || element.querySelectorAll(naming.join()).length > 0;
}

/** Runs in the page: adds an element that is shown, and what is in it. */
export function addElement(walk: Walk, element: PageElement, out: OutlineChild[], inside: Inside): void {
  const { reader, roles, names, states, visited } = walk;
  if (visited.has(element)) return;
  if (visited.size >= walk.most && isFar(reader, element) && !(walk.find && mentions(reader, element, walk.find))) {
    walk.isCut = true;
    return;
  }
  visited.add(element);
  const tag = reader.tag(element);
  if (tag === "INPUT" && !reader.isRendered(element)) out.push(hiddenFiles(element));
  if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE|HEAD|TITLE|META|LINK)$/.test(tag)) return;
  const style = reader.style(element);
  const { display } = style;
  if (display === "none") return;
  const { width, height } = reader.box(element);
  const isDrawn = width > 0 && height > 0 && style.visibility === "visible" && reader.isRendered(element);
  const isShown = isDrawn || !names.isHidden(element);
  const isInline = (display === "inline" || display === "contents") && tag !== "BR";
  const role = roles.of(element) || "generic";
  const isPart = role === "generic" && (display === "contents" || (isInline && holdsOnlyText(reader, element)));
  if (!isInline) out.push(" ");
  if (!isShown || isPart) addContent(walk, element, out, isShown, inside);
  else {
    const { name, isContent } = role === "iframe" ? { name: "", isContent: false } : names.of(element);
    const canAct = role === "iframe" || (isDrawn && style.pointerEvents !== "none");
    const isPointer = canAct && style.cursor === "pointer";
    const content: OutlineChild[] = [];
    if (!/^(?:IFRAME|FRAME|TEXTAREA|INPUT|OBJECT|EMBED)$/.test(tag))
      addContent(walk, element, content, true, { pointer: inside.pointer || isPointer, name });
    const node = nodeOf(walk, element, { role, name, canAct, isPointer });
    const value = states.valueOf(element, role);
    const children = mergedTexts(content);
    const isTarget = isPointer && !inside.pointer;
    out.push(...finishedNode(node, { children, isContent, isTarget, value, around: inside.name }));
  }
  if (!isInline) out.push(" ");
}

/** Runs in the page: an element's node, without what is in it. */
export function nodeOf(
  { reader, numbers, states, focused }: Walk,
  element: PageElement,
  {
    role,
    name,
    canAct,
    isPointer,
  }: { readonly role: string; readonly name: string; readonly canAct: boolean; readonly isPointer: boolean },
): AriaNode {
  const { left, top, width, height } = reader.box(element);
  return {
    role,
    name,
    ref: canAct ? numbers.of(element, role, name) : undefined,
    box: [Math.round(left), Math.round(top), Math.round(width), Math.round(height)],
    cursor: isPointer ? "pointer" : undefined,
    active: element === focused || undefined,
    ariaHidden: reader.attribute(element, "aria-hidden")?.toLowerCase() === "true" || undefined,
    ...(role === "generic" ? undefined : states.of(element, role, name)),
  };
}

/** Runs in the page: adds what is in an element; its texts only when they are shown. */
export function addContent(
  walk: Walk,
  element: PageElement,
  out: OutlineChild[],
  isShown: boolean,
  inside: Inside,
): void {
  const { reader, visited } = walk;
  const control = reader.tag(element) === "LABEL" ? element.control : undefined;
  if (control && !visited.has(control) && !reader.isRendered(control)) {
    visited.add(control);
    out.push(hiddenFiles(control));
  }
  const isFolded = reader.tag(element) === "DETAILS" && reader.attribute(element, "open") === null;
  if (isShown) out.push(addedText(element, "::before"));
  const children = reader.children(element);
  for (let index = 0; index < children.length; index++) {
    const child = children[index];
    if (child?.nodeType === 3 && isShown && !isFolded) out.push(child.nodeValue ?? "");
    if (child?.nodeType !== 1) continue;
    const inner = child as PageElement;
    if (!isFolded || reader.tag(inner) === "SUMMARY") addElement(walk, inner, out, inside);
  }
  for (const owned of reader.named(element, "aria-owns")) addElement(walk, owned, out, inside);
  if (isShown) out.push(addedText(element, "::after"));
}

/**
 * Runs in the page: the files given to a field that is not drawn, as those behind a label or a
 * button are.
 */
export function hiddenFiles(field: PageElement): string {
  const files = chosenFiles(field);
  return files === "" ? "" : ` (chosen: ${files}) `;
}

/** Runs in the page. */
export function holdsOnlyText(reader: Reader, element: PageElement): boolean {
  const children = reader.children(element);
  return children.length === 1 && children[0]?.nodeType === 3;
}
