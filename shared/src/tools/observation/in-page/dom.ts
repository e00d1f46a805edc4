/**
 * The parts of the DOM that our scripts in pages use. The full DOM types would make every browser
 * global known to server code.
 */
export type PageRect = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
};

/** The computed style of an element, as far as it decides what is visible. */
export type PageStyle = {
  readonly color: string;
  readonly backgroundColor: string;
  readonly backgroundImage: string;
  readonly fontSize: string;
  readonly clip: string;
  readonly clipPath: string;
  readonly display: string;
  readonly position: string;
  readonly overflow: string;
  readonly overflowY: string;
  readonly cursor: string;
  readonly pointerEvents: string;
  readonly content: string;
  readonly borderTopStyle: string;
  readonly borderLeftStyle: string;
  readonly fill: string;
  readonly textIndent: string;
  readonly textShadow: string;
  readonly opacity: string;
  readonly visibility: string;
  readonly filter: string;
  readonly contentVisibility: string;
  readonly backgroundClip: string;
  readonly webkitTextFillColor: string;
  readonly webkitTextStrokeWidth: string;
  readonly webkitTextStrokeColor: string;
};

/** A node of the document. */
export interface PageNode {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly textContent: string | null;
  readonly parentElement: PageElement | null;
  readonly childNodes: ArrayLike<PageNode>;
  readonly isConnected: boolean;
  readonly ownerDocument: PageDocument;
}

/** An element of the document. */
export interface PageElement extends PageNode {
  readonly tagName: string;
  readonly id: string;
  readonly className: unknown;
  readonly innerText?: string;
  readonly type?: string;
  readonly value?: unknown;
  readonly files?: ArrayLike<{ readonly name: string }> | null;
  readonly validationMessage?: string;
  readonly href?: string;
  readonly checked?: boolean;
  readonly indeterminate?: boolean;
  readonly selected?: boolean;
  readonly disabled?: boolean;
  readonly multiple?: boolean;
  scrollIntoViewIfNeeded?(): void;
  removeAttribute(name: string): void;
  readonly style?: { removeProperty(name: string): void };
  getAnimations(): readonly {
    readonly playState: string;
    readonly effect: { getTiming(): { readonly iterations?: number } } | null;
  }[];
  readonly isContentEditable?: boolean;
  readonly control?: PageElement | null;
  readonly labels?: ArrayLike<PageElement> | null;
  readonly options?: ArrayLike<PageOption>;
  readonly selectedIndex?: number;
  readonly shadowRoot: PageRoot | null;
  assignedNodes?(): ArrayLike<PageNode>;
  readonly scrollHeight: number;
  readonly clientHeight: number;
  readonly scrollWidth: number;
  readonly clientWidth: number;
  scrollTop: number;
  scrollLeft: number;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  dispatchEvent(event: object): boolean;
  getBoundingClientRect(): PageRect;
  checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean;
  matches(selector: string): boolean;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  closest(selector: string): PageElement | null;
  contains(other: PageElement | null): boolean;
  scrollBy(how: { top: number; behavior: "instant" }): void;
}

/** An option of a select element. */
export type PageOption = {
  readonly text: string;
  readonly value: string;
  readonly disabled: boolean;
  readonly selected: boolean;
};

/** A document or a shadow root. */
export interface PageRoot extends PageNode {
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  elementFromPoint(x: number, y: number): PageElement | null;
  readonly activeElement: PageElement | null;
}

/** The document of a frame. */
export interface PageDocument extends PageRoot {
  readonly body: PageElement | null;
  readonly documentElement: PageElement;
  readonly scrollingElement: PageElement | null;
  readonly defaultView: PageWindow | null;
  readonly readyState: string;
  getElementById(id: string): PageElement | null;
  getElementsByTagName(name: string): ArrayLike<PageElement>;
  createTreeWalker(root: PageNode, show: number): { nextNode(): PageNode | null };
}

/** The window of a frame. */
export interface PageWindow {
  readonly top: unknown;
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly scrollX: number;
  readonly scrollY: number;
  readonly performance: { readonly timeOrigin: number };
  readonly location: { readonly href: string };
  getComputedStyle(element: PageElement, part?: string): PageStyle;
}

/** One change of a document, with the attribute if it is one. */
type PageRecord = { readonly target: PageNode; readonly attributeName: string | null };

/** The page's MutationObserver. */
export type PageObserver = new (
  seen: (records: readonly PageRecord[]) => void,
) => {
  observe(
    node: PageNode,
    what: { subtree: boolean; childList: boolean; attributes: boolean; characterData: boolean },
  ): void;
  takeRecords(): readonly PageRecord[];
  disconnect(): void;
};
