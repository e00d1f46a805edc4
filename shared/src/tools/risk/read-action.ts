/** The parts of the DOM that show what an act on an element does. */
export interface ActionElement {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly autocomplete?: unknown;
  readonly isContentEditable?: boolean;
  readonly labels?: ArrayLike<ActionElement> | null;
  readonly form?: ActionForm | null;
  readonly formAction?: unknown;
  readonly ownerDocument: { getElementById(id: string): ActionElement | null };
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  closest(selector: string): ActionElement | null;
  querySelectorAll(selector: string): ArrayLike<ActionElement>;
}
interface ActionForm {
  readonly elements: ArrayLike<ActionElement>;
  getAttribute(name: string): string | null;
  querySelector(selector: string): ActionElement | null;
}

/** What an element is and does, in the page's words. */
export type ReadAction = {
  readonly tag: string;
  readonly type: string;
  readonly autocomplete: string;
  /** Whether text can be written into it. */
  readonly takesText: boolean;
  /**
   * The names of the element, or of what it is part of; for an element that cannot be pressed
   * itself, the names of the pressable elements in it.
   */
  readonly words: readonly string[];
  /** A field's names in code. */
  readonly names: readonly string[];
  /**
   * Where its form goes when a click on the element, or Enter in it, sends the form; undefined when
   * it sends none.
   */
  readonly sends: { readonly action: string; readonly method: string; readonly button: readonly string[] } | undefined;
};

/** Runs in the page, on an element. */
export function readAction(element: ActionElement): ReadAction {
  const actionable =
    "button,a,summary,label,select,textarea,input,[role=button],[role=link],[role=menuitem],[role=tab],[onclick]";
  const textual = /^(?:text|search|email|url|tel|password|number|date|month|week|time|datetime-local|)$/;
  const wordsOf = (one: ActionElement): string[] => {
    const attribute = (name: string) => one.getAttribute(name) ?? "";
    const labelled = attribute("aria-labelledby")
      .split(/\s+/)
      .map((id) => (id === "" ? "" : (one.ownerDocument.getElementById(id)?.textContent ?? "")));
    const labels = Array.from(one.labels ?? [], ({ textContent }) => textContent ?? "");
    const isButton = one.tagName === "INPUT" && /^(?:submit|button|reset|image)$/.test(String(one.type));
    const own = /^(?:INPUT|SELECT|TEXTAREA)$/.test(one.tagName) ? "" : (one.textContent ?? "");
    const named = ["aria-label", "alt", "title", "placeholder"].map(attribute);
    return [...named, ...labelled, ...labels, isButton ? String(one.value ?? "") : "", own]
      .map((word) => word.replace(/\s+/g, " ").trim().slice(0, 300))
      .filter((word) => word !== "");
  };
  const pressed = element.closest(actionable);
  const target = pressed ?? element;
  // For a pressable element, the pictures that name it; for any other, the pressable elements in
  // it.
  const inside = Array.from(
    target.querySelectorAll(pressed === null ? actionable : "[aria-label],[alt],[title]"),
  ).slice(0, 50);
  const type = String(target.type ?? "").toLowerCase();
  const form = target.form;
  const button = form?.querySelector("button:not([type]),[type=submit],[type=image]") ?? undefined;
  const isSubmit = /^(?:submit|image)$/.test(type) && /^(?:BUTTON|INPUT)$/.test(target.tagName);
  const takesText =
    target.tagName === "TEXTAREA" ||
    target.isContentEditable === true ||
    (target.tagName === "INPUT" && textual.test(type));
  const sender = isSubmit ? target : takesText && target.tagName === "INPUT" ? (button ?? target) : undefined;
  const own = sender?.hasAttribute("formaction") ? String(sender.formAction) : undefined;
  return {
    tag: target.tagName.toLowerCase(),
    type,
    autocomplete: target.getAttribute("autocomplete") ?? "",
    takesText,
    words: [...new Set([target, element, ...inside].flatMap(wordsOf))],
    names: ["name", "id"].map((name) => target.getAttribute(name) ?? ""),
    sends:
      !form || sender === undefined
        ? undefined
        : {
            action: own ?? form.getAttribute("action") ?? "",
            method: (sender.getAttribute("formmethod") ?? form.getAttribute("method") ?? "get").toLowerCase(),
            button: button === undefined ? [] : wordsOf(isSubmit ? target : button),
          },
  };
}

interface Marked {
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>;
}
interface MarkedElement extends Marked {
  readonly tagName: string;
  readonly href?: unknown;
  readonly form?: Marked | null;
  readonly ownerDocument: {
    readonly defaultView: { getComputedStyle(element: unknown): { readonly cursor: string } } | null;
    querySelectorAll(selector: string): ArrayLike<unknown>;
  };
  getAttribute(name: string): string | null;
  closest(selector: string): MarkedElement | null;
  querySelectorAll(selector: string): ArrayLike<Marked>;
}

/** What a page's code says about an element. */
export type Marks = {
  /**
   * The names in code of the element, the pictures in it and its form: ids, classes, data
   * attributes, icon addresses, handlers.
   */
  readonly marks: readonly string[];
  /** Whether it looks like something to press, or says so. */
  readonly isPressed: boolean;
  /** Where a link leads that does nothing else; empty for any other element. */
  readonly leads: string;
  /** How many pressable elements the document has, this one included. */
  readonly ways: number;
};

/** Runs in the page, on an element. */
export function readMarks(element: MarkedElement): Marks {
  const actionable =
    "button,a,summary,label,select,textarea,input,option,[role=button],[role=link],[role=menuitem],[role=tab],[role=option],[onclick]";
  const telling =
    /^(?:id|class|name|value|src|xlink:href|action|formaction|on(?:click|mousedown|pointerdown|submit)|data-.+)$/;
  const marksOf = (one: Marked): string[] =>
    Array.from(one.attributes)
      .filter(({ name }) => telling.test(name))
      .map(({ name, value }) => `${/^(?:on|src|href)/.test(name) ? "" : `${name.replace(/^data-/, "")} `}${value}`)
      .map((mark) => mark.slice(0, 200));
  const pressed = element.closest(actionable);
  const inner = pressed === null ? [] : Array.from(pressed.querySelectorAll("svg,use,i,img,path,span:empty"));
  const icons = Array.from(pressed?.querySelectorAll("use") ?? [], (icon) =>
    Array.from(icon.attributes, ({ name, value }) => (name === "href" ? value : "")).join(""),
  );
  const takesText = /^(?:INPUT|TEXTAREA|SELECT)$/.test((pressed ?? element).tagName);
  const isOpener = takesText && !/^(?:submit|image|button|reset)$/.test(pressed?.getAttribute("type") ?? "");
  const forms = pressed?.form ? [pressed.form] : [];
  const own = isOpener ? [] : [...new Set([pressed ?? element, element])];
  const link = pressed?.tagName === "A" && pressed.getAttribute("role") === null ? String(pressed.href ?? "") : "";
  const cursor = element.ownerDocument.defaultView?.getComputedStyle(element).cursor;
  return {
    marks: [...own, ...inner.slice(0, 20), ...forms].flatMap(marksOf).concat(icons.filter((icon) => icon !== "")),
    isPressed:
      pressed !== null || cursor === "pointer" || /^(?:switch|menuitem)/.test(element.getAttribute("role") ?? ""),
    leads: /^https?:/.test(link) ? link : "",
    ways: element.ownerDocument.querySelectorAll(actionable).length,
  };
}
