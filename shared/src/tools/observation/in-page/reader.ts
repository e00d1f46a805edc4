import type { PageDocument, PageElement, PageNode, PageRect, PageRoot, PageStyle, PageWindow } from "./dom.ts";

declare const window: PageWindow;
declare const document: PageDocument;
declare const Node: { readonly prototype: object };
declare const Element: { readonly prototype: object };
declare const Document: { readonly prototype: object };
declare const DocumentFragment: { readonly prototype: object };

/**
 * Reads a document's elements. A form's fields, and images of a document, may have the names of its
 * properties, so these are read through the prototypes. What a look reads again is kept. Exists in
 * the page, for one look.
 */
export type Reader = {
  body(): PageElement | null;
  /** The elements that a selector matches, without those in shadow roots. */
  all(selector: string): ArrayLike<PageElement>;
  /** The element that has the focus. */
  focused(): PageElement | undefined;
  /** In capital letters, whatever the element's namespace. */
  tag(element: PageElement): string;
  attribute(element: PageElement, name: string): string | null;
  text(node: PageNode): string;
  /** The nodes that are drawn in an element: those of its shadow root, or assigned to a slot. */
  children(element: PageElement): ArrayLike<PageNode>;
  /** The element that it is drawn in. */
  parent(element: PageElement): PageElement | undefined;
  matches(element: PageElement, selector: string): boolean;
  closest(element: PageElement, selector: string): PageElement | null;
  style(element: PageElement): PageStyle;
  box(element: PageElement): PageRect;
  /** Whether it is laid out at all. */
  isRendered(element: PageElement): boolean;
  /** The labels of a field or button. */
  labels(element: PageElement): readonly PageElement[];
  /** The elements with the ids in an attribute, from the same document or shadow root. */
  named(element: PageElement, attribute: string): readonly PageElement[];
};

/** Runs in the page: creates a `Reader`. */
export function openReader(): Reader {
  const own = ownProperties();
  const tags = new Map<string, string>();
  const styles = new Map<PageElement, PageStyle>();
  const boxes = new Map<PageElement, PageRect>();
  const rendered = new Map<PageElement, boolean>();
  const children = new Map<PageElement, ArrayLike<PageNode>>();
  let labels: Map<PageElement, PageElement[]> | undefined;
  return {
    body: () => own.body(document),
    all: (selector) => own.querySelectorAll(document, selector),
    focused() {
      let found = own.hasFocus(document) ? own.activeElement(document) : null;
      for (let inner = found; inner !== null; inner = own.shadowRoot(inner)?.activeElement ?? null) found = inner;
      return found ?? undefined;
    },
    tag(element) {
      const name = own.localName(element);
      const tag = tags.get(name) ?? name.toUpperCase();
      tags.set(name, tag);
      return tag;
    },
    attribute: own.getAttribute,
    text: (node) => own.textContent(node) ?? "",
    children: (element) => keptOf(children, element, () => drawnChildren(own, element)),
    parent(element) {
      const slot = own.assignedSlot(element);
      if (slot !== null) return slot;
      const parent = own.parentNode(element);
      return parent?.nodeType === 1 ? (parent as PageElement) : parent?.host;
    },
    matches: own.matches,
    closest: own.closest,
    style: (element) => keptOf(styles, element, () => window.getComputedStyle(element)),
    box: (element) => keptOf(boxes, element, own.getBoundingClientRect),
    isRendered: (element) => keptOf(rendered, element, own.checkVisibility),
    labels(element) {
      if (own.getRootNode(element).nodeType !== 9) return Array.from(element.labels ?? []);
      labels ??= labelsByControl(own.querySelectorAll(document, "label"));
      return labels.get(element) ?? [];
    },
    named(element, attribute) {
      const ids = own.getAttribute(element, attribute);
      if (ids === null) return [];
      const root = own.getRootNode(element);
      if (root.nodeType !== 9 && root.nodeType !== 11) return [];
      const find = root.nodeType === 9 ? own.getElementById : own.getElementInShadow;
      return ids.split(/\s+/).flatMap((id) => (id === "" ? [] : (find(root, id) ?? [])));
    },
  };
}

/** Runs in the page: what is known of an element, read when it is not. */
export function keptOf<T>(known: Map<PageElement, T>, element: PageElement, read: (element: PageElement) => T): T {
  let found = known.get(element);
  if (found === undefined) {
    found = read(element);
    known.set(element, found);
  }
  return found;
}

/** The document's own properties, as functions of what has them. */
type OwnProperties = ReturnType<typeof ownProperties>;

/** Runs in the page. */
export function ownProperties() {
  const getter = <T>(prototype: object, name: string) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    return (of: PageNode) => get?.call(of) as T;
  };
  const method = <T>(prototype: object, name: string) => {
    const value = Object.getOwnPropertyDescriptor(prototype, name)?.value as (...args: unknown[]) => T;
    return (of: PageNode, arg?: string) => (arg === undefined ? value.call(of) : value.call(of, arg));
  };
  return {
    body: getter<PageElement | null>(Document.prototype, "body"),
    activeElement: getter<PageElement | null>(Document.prototype, "activeElement"),
    hasFocus: method<boolean>(Document.prototype, "hasFocus"),
    querySelectorAll: method<ArrayLike<PageElement>>(Document.prototype, "querySelectorAll"),
    getElementById: method<PageElement | null>(Document.prototype, "getElementById"),
    getElementInShadow: method<PageElement | null>(DocumentFragment.prototype, "getElementById"),
    childNodes: getter<ArrayLike<PageNode>>(Node.prototype, "childNodes"),
    parentNode: getter<(PageNode & { readonly host?: PageElement }) | null>(Node.prototype, "parentNode"),
    textContent: getter<string | null>(Node.prototype, "textContent"),
    getRootNode: method<PageNode>(Node.prototype, "getRootNode"),
    localName: getter<string>(Element.prototype, "localName"),
    shadowRoot: getter<PageRoot | null>(Element.prototype, "shadowRoot"),
    assignedSlot: getter<PageElement | null>(Element.prototype, "assignedSlot"),
    getAttribute: method<string | null>(Element.prototype, "getAttribute"),
    matches: method<boolean>(Element.prototype, "matches"),
    closest: method<PageElement | null>(Element.prototype, "closest"),
    getBoundingClientRect: method<PageRect>(Element.prototype, "getBoundingClientRect"),
    checkVisibility: method<boolean>(Element.prototype, "checkVisibility"),
  };
}

/** Runs in the page. */
export function drawnChildren(own: OwnProperties, element: PageElement): ArrayLike<PageNode> {
  const assigned = own.localName(element) === "slot" ? element.assignedNodes?.() : undefined;
  return assigned !== undefined && assigned.length > 0
    ? assigned
    : Array.from(own.childNodes(own.shadowRoot(element) ?? element));
}

/**
 * Runs in the page: the labels of each control. An element that is asked for its labels searches
 * the whole document each time.
 */
export function labelsByControl(labels: ArrayLike<PageElement>): Map<PageElement, PageElement[]> {
  const found = new Map<PageElement, PageElement[]>();
  for (const label of Array.from(labels)) {
    const { control } = label;
    if (control) found.set(control, [...(found.get(control) ?? []), label]);
  }
  return found;
}
