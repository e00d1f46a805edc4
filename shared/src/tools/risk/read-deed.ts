/** The parts of the DOM that tell what an act on an element does. */
export interface DeedElement {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly autocomplete?: unknown;
  readonly isContentEditable?: boolean;
  readonly labels?: ArrayLike<DeedElement> | null;
  readonly form?: DeedForm | null;
  readonly formAction?: unknown;
  readonly ownerDocument: { getElementById(id: string): DeedElement | null };
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  closest(selector: string): DeedElement | null;
  querySelectorAll(selector: string): ArrayLike<DeedElement>;
}
interface DeedForm {
  readonly elements: ArrayLike<DeedElement>;
  getAttribute(name: string): string | null;
  querySelector(selector: string): DeedElement | null;
}

/** What an element is and does, in the page's words. */
export type ReadDeed = {
  readonly tag: string;
  readonly type: string;
  readonly autocomplete: string;
  /** Whether text can be written into it. */
  readonly takesText: boolean;
  /** What it, or what it is part of, is called; of something that cannot be pressed itself, what can be in it. */
  readonly words: readonly string[];
  /** What a field is called in code. */
  readonly names: readonly string[];
  /** Where its form goes when a click on it, or Enter in it, sends the form; undefined where it sends none. */
  readonly sends: { readonly action: string; readonly method: string; readonly button: readonly string[] } | undefined;
};

/** Runs in the page, on an element. */
export function readDeed(element: DeedElement): ReadDeed {
  const actionable =
    "button,a,summary,label,select,textarea,input,[role=button],[role=link],[role=menuitem],[role=tab],[onclick]";
  const textual = /^(?:text|search|email|url|tel|password|number|date|month|week|time|datetime-local|)$/;
  const wordsOf = (one: DeedElement): string[] => {
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
  const nearest = pressed ?? element;
  // Of something pressed the pictures that name it, of anything else what can be pressed in it.
  const inside = Array.from(
    nearest.querySelectorAll(pressed === null ? actionable : "[aria-label],[alt],[title]"),
  ).slice(0, 50);
  const target = nearest.tagName === "LABEL" ? (element.closest("label") ?? nearest) : nearest;
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
