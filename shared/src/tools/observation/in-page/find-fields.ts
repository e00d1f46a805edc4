import type { PageDocument, PageElement, PageRoot } from "./dom.ts";

declare const document: PageDocument;

/**
 * What an outline does not report about a field: that it is read-only, the value of a field that is
 * not the browser's own, leading and trailing blanks of its value, and its format while it is
 * empty.
 */
export type FieldFacts = {
  /** Its box in the document's window, rounded: `x y width height`. */
  readonly box: string;
  readonly readOnly: boolean;
  readonly value: string;
};

/**
 * Runs in the page: the fields with something to report, including those in shadow roots. Bounded.
 * `formats` is how fields of some types are written.
 */
export function findFields(formats: Readonly<Record<string, string>>): FieldFacts[] {
  const wanted = "input,textarea,[aria-readonly=true],[role=textbox],[role=searchbox],[aria-valuenow],progress,meter";
  const found: FieldFacts[] = [];
  const typed = /^(?:|text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/;
  const isReadOnly = (element: PageElement) =>
    element.getAttribute("aria-readonly") === "true" ||
    (element.hasAttribute("readonly") &&
      (element.tagName === "TEXTAREA" || (element.tagName === "INPUT" && typed.test(element.type ?? ""))));
  /**
   * The value in the browser's own field, when an outline, which trims it, would report it wrongly.
   */
  const edged = (element: PageElement) => {
    const type = element.type ?? "";
    const value = String(element.value ?? "");
    const format = value === "" && element.tagName === "INPUT" ? formats[type] : undefined;
    if (format !== undefined) return `(empty, written like ${format})`;
    const isText = element.tagName === "TEXTAREA" || (typed.test(type) && type !== "password");
    return isText && /^\s|\s$/.test(value) ? JSON.stringify(value) : "";
  };
  const heldBy = (element: PageElement) => {
    if (/^(?:INPUT|TEXTAREA)$/.test(element.tagName)) return edged(element);
    if (/^(?:PROGRESS|METER)$/.test(element.tagName)) return `${element.value}/${element.getAttribute("max") ?? 1}`;
    const told = element.getAttribute("aria-valuetext") ?? element.getAttribute("aria-valuenow");
    return (told ?? element.textContent ?? "").replace(/[\s\u200b]+/g, " ").trim();
  };
  const roots: PageRoot[] = [document];
  for (let root = roots.pop(); root !== undefined && found.length < 2_000; root = roots.pop()) {
    for (const element of Array.from(root.querySelectorAll(wanted))) {
      const [readOnly, value] = [isReadOnly(element), heldBy(element).slice(0, 2_000)];
      if (!readOnly && value === "") continue;
      const { left, top, width, height } = element.getBoundingClientRect();
      const box = [left, top, width, height].map((length) => Math.round(length)).join(" ");
      found.push({ box, readOnly, value });
    }
    for (const { shadowRoot } of Array.from(root.querySelectorAll("*"))) if (shadowRoot) roots.push(shadowRoot);
  }
  return found;
}

/** How to write the fields that accept only one format, by their type. */
export const fieldFormats: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "13:05",
  "datetime-local": "2026-01-31T13:05",
  month: "2026-01",
  week: "2026-W05",
};
