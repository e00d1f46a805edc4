import type { PageElement, PageWindow } from "../dom.ts";
import { keptOf, type Reader } from "../reader.ts";
import type { Roles } from "./roles.ts";

declare const window: PageWindow;

/** Knows the accessible names of elements. Exists in the page, for one look. */
export type Names = {
  /** Its name, and whether that is what is in it. */
  of(element: PageElement): ElementName;
  /** Whether an element is not there for those who listen to a page. */
  isHidden(element: PageElement): boolean;
};

/** An element's name, and whether that is what is in it. */
export type ElementName = { readonly name: string; readonly isContent: boolean };

/** What names are made with. */
type Naming = {
  readonly reader: Reader;
  readonly roles: Roles;
  readonly named: ReadonlySet<string>;
  isHidden(element: PageElement): boolean;
  /** Whether the newest name is an element's content. */
  usesContent: boolean;
};

/**
 * How an element is read: for its own name, as a part of another's content, or because another
 * refers to it.
 */
type Way = {
  readonly seen: Set<PageElement>;
  readonly referred: boolean;
  readonly inside: boolean;
  /** Whether what is hidden is read too. */
  readonly hidden: boolean;
};

/** Runs in the page: creates `Names`. They are computed as "Accessible Name 1.2" says. */
export function openNames(reader: Reader, roles: Roles): Names {
  const words = (text: string) => new Set(text.split(/\s+/));
  const nameless = words(
    "caption code definition deletion emphasis generic insertion mark paragraph strong subscript superscript term time",
  );
  // Cells and rows too have such names, which nobody is shown: what is in them says the same.
  const named = words(
    `button checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio rowheader
    switch tab tooltip treeitem`,
  );
  const away = new Map<PageElement, boolean>();
  const hidden = new Map<PageElement, boolean>();
  const known = new Map<PageElement, ElementName>();
  const isHidden = (element: PageElement) => keptOf(hidden, element, () => isHiddenElement(reader, away, element));
  const naming: Naming = { reader, roles, named, isHidden, usesContent: false };
  const find = (element: PageElement): ElementName => {
    if (nameless.has(roles.of(element))) return { name: "", isContent: false };
    naming.usesContent = false;
    const text = alternativeOf(naming, element, { seen: new Set(), referred: false, inside: false, hidden: false });
    return { name: text.replace(/[\s\u200b\u00ad]+/g, " ").trim(), isContent: naming.usesContent };
  };
  return { of: (element) => keptOf(known, element, find), isHidden };
}

/** Runs in the page: whether it, or what it is in, is not drawn or marked as hidden. */
export function isHiddenElement(reader: Reader, away: Map<PageElement, boolean>, element: PageElement): boolean {
  const isAway = (one: PageElement): boolean =>
    keptOf(away, one, () => {
      if (reader.attribute(one, "aria-hidden")?.toLowerCase() === "true") return true;
      if (reader.style(one).display === "none") return true;
      const parent = reader.parent(one);
      return parent !== undefined && isAway(parent);
    });
  const tag = reader.tag(element);
  if (/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(tag)) return true;
  if (tag === "OPTION" || tag === "OPTGROUP") return isAway(element);
  const { display, visibility } = reader.style(element);
  return (display !== "contents" && (visibility !== "visible" || !reader.isRendered(element))) || isAway(element);
}

/** Runs in the page: the text that a style puts before or after an element's own. */
export function addedText(element: PageElement, part: "::before" | "::after"): string {
  const style = window.getComputedStyle(element, part);
  const { content } = style;
  if (content === "none" || content === "normal" || content === '""') return "";
  if (style.display === "none" || style.visibility === "hidden") return "";
  const words = Array.from(content.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, quoted = ""]) => quoted);
  const text = words.join("").replace(/\\(.)/g, "$1");
  return style.display === "inline" ? text : ` ${text} `;
}

/** Runs in the page: the text that stands for an element. */
export function alternativeOf(naming: Naming, element: PageElement, way: Way): string {
  const { reader, roles } = naming;
  const { seen, referred, inside } = way;
  if (seen.has(element) || (!way.hidden && naming.isHidden(element))) return "";
  const labelled = referred ? "" : referredText(naming, reader.named(element, "aria-labelledby"), new Set(seen));
  if (labelled !== "") return labelled;
  const role = roles.of(element);
  seen.add(element);
  const value = inside ? embeddedValue(naming, element, role, way) : undefined;
  if (value !== undefined) return value;
  const label = (reader.attribute(element, "aria-label") ?? "").trim();
  if (label !== "") return label;
  const native = nativeName(naming, element, way);
  if (native !== undefined) return native;
  if (naming.named.has(role) || (inside && (referred || !holdsEntries(role)))) {
    const content = contentText(naming, element, way);
    if (content.trim() !== "") {
      if (!inside) naming.usesContent = true;
      return content;
    }
  }
  return (reader.attribute(element, "title") ?? "").trim();
}

/** Runs in the page: whether elements of a role hold entries, after which none above is named. */
export function holdsEntries(role: string): boolean {
  return /^(?:grid|group|menu|menubar|tablist|tree|treegrid)$/.test(role);
}

/** Runs in the page: what elements say that others refer to, hidden ones too. */
export function referredText(naming: Naming, elements: readonly PageElement[], seen: Set<PageElement>): string {
  return elements
    .map((one) =>
      alternativeOf(naming, one, { seen, referred: true, inside: true, hidden: naming.isHidden(one) }).trim(),
    )
    .filter((part) => part !== "")
    .join(" ");
}

/** Runs in the page: all that is in an element, with blanks where it is no part of a line. */
export function contentText(naming: Naming, element: PageElement, way: Way): string {
  const { reader } = naming;
  const isFolded = reader.tag(element) === "DETAILS" && reader.attribute(element, "open") === null;
  let text = addedText(element, "::before");
  for (const child of [...Array.from(reader.children(element)), ...reader.named(element, "aria-owns")]) {
    if (child.nodeType === 3) text += way.hidden || !isFolded ? (child.nodeValue ?? "") : "";
    if (child.nodeType !== 1) continue;
    const inner = child as PageElement;
    const part = alternativeOf(naming, inner, { ...way, inside: true });
    text += reader.style(inner).display === "inline" && reader.tag(inner) !== "BR" ? part : ` ${part} `;
  }
  return text + addedText(element, "::after");
}

/** Runs in the page: what a field within another's name says, which is its value. */
export function embeddedValue(naming: Naming, element: PageElement, role: string, way: Way): string | undefined {
  const { reader } = naming;
  const isField = /^(?:INPUT|TEXTAREA)$/.test(reader.tag(element));
  const written = element.type === "password" ? "" : String(element.value ?? "");
  // A person typed here, or code a secret: that there is something is all that is told.
  const isCovered = isField && written !== "" && reader.attribute(element, "data-manyhands-covered") !== null;
  const value = isCovered ? "•••" : written;
  if (role === "textbox" || role === "searchbox") return isField ? value : reader.text(element);
  if (role === "combobox" || role === "listbox") {
    if (isField) return value;
    const options = Array.from(element.options ?? []).filter(({ selected }) => selected);
    if (element.options !== undefined) return options.map(({ text }) => text).join(" ");
    const chosen = Array.from(element.querySelectorAll("[aria-selected=true]"));
    return chosen.map((option) => alternativeOf(naming, option, way)).join(" ");
  }
  if (!/^(?:progressbar|scrollbar|slider|spinbutton|meter)$/.test(role)) return undefined;
  if (isCovered) return value;
  const told = reader.attribute(element, "aria-valuetext") ?? reader.attribute(element, "aria-valuenow");
  return told ?? value;
}

/** Runs in the page: the name that an element's own tag gives it; undefined when it gives none. */
export function nativeName(naming: Naming, element: PageElement, way: Way): string | undefined {
  const { reader } = naming;
  const told = (name: string) => (reader.attribute(element, name) ?? "").trim();
  const labels = () => (way.referred ? "" : referredText(naming, reader.labels(element), way.seen));
  const child = (tag: string) => {
    const found = Array.from(reader.children(element)).find(
      (one) => one.nodeType === 1 && reader.tag(one as PageElement) === tag,
    );
    return found === undefined ? "" : referredText(naming, [found as PageElement], way.seen);
  };
  switch (reader.tag(element)) {
    case "INPUT":
      return inputName(element, told, labels);
    case "TEXTAREA":
      return labels() || told("title") || told("placeholder");
    case "SELECT":
    case "METER":
    case "PROGRESS":
    case "OUTPUT":
      return labels() || told("title");
    case "BUTTON":
      return labels() || undefined;
    case "FIELDSET":
      return child("LEGEND") || told("title");
    case "FIGURE":
      return child("FIGCAPTION") || told("title");
    case "TABLE":
      return child("CAPTION") || told("summary") || undefined;
    case "SVG":
      return child("TITLE") || undefined;
    case "G":
    case "CIRCLE":
    case "ELLIPSE":
    case "PATH":
    case "POLYGON":
    case "RECT":
      // A chart names each of its points; what can be clicked is found by its name.
      return (reader.style(element).cursor === "pointer" && child("TITLE")) || undefined;
    case "IMG":
    case "AREA":
      return told("alt") || told("title");
    case "OPTGROUP":
      return told("label");
    default:
      return undefined;
  }
}

/** Runs in the page: the name of an `input`. */
export function inputName(element: PageElement, told: (name: string) => string, labels: () => string): string {
  const type = String(element.type ?? "");
  if (/^(?:button|submit|reset)$/.test(type)) {
    const value = String(element.value ?? "").trim();
    if (value !== "") return value;
    return type === "submit" ? "Submit" : type === "reset" ? "Reset" : told("title");
  }
  const named = labels();
  if (named !== "") return named;
  if (type === "file") return "Choose File";
  if (type === "image") return told("alt") || told("title") || "Submit";
  const holdsText = /^(?:|text|search|tel|url|email|password|number)$/.test(type);
  return told("title") || (holdsText ? told("placeholder") : "");
}
