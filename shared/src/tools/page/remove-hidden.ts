/** The parts of a parsed document that are read here. */
type Rule = {
  readonly selectorText?: string;
  readonly style?: { readonly cssText: string };
  readonly media?: { readonly mediaText: string };
  readonly cssRules?: ArrayLike<Rule>;
};
type Element = {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly sheet?: { readonly cssRules: ArrayLike<Rule> } | null;
  getAttribute(name: string): string | null;
  matches(selector: string): boolean;
  remove(): void;
};
type ParsedDocument = { querySelectorAll(selector: string): Iterable<Element> };

/**
 * Hidden whatever the styles say: by the element itself, or by the names that sites give to text
 * for screen readers only.
 */
const byName =
  "[hidden]:not([hidden=until-found]), dialog:not([open]), .sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only";

/** Characters of style sheets that are read, in the order of the page. */
const mostOfSheets = 500_000;

/** The value that one declaration block gives to a property; empty when it gives none. */
type Values = (property: string) => string;

const isFar = (value: string) => Number.parseFloat(value) <= -900 || Number.parseFloat(value) >= 9_000;
const isAway = (side: string) => (of: Values) => isFar(of(side));
const isFlat = (side: string) => (of: Values) =>
  /^[01](?:px)?$/.test(of(side)) && /hidden|clip/.test(of("overflow") + of(`overflow-${side === "width" ? "x" : "y"}`));

/** Whether a block hides text from everybody, by the property that does it. */
const hiders: Readonly<Record<string, (of: Values) => boolean>> = {
  display: (of) => of("display") === "none",
  visibility: (of) => /^(?:hidden|collapse)$/.test(of("visibility")),
  opacity: (of) => Number.parseFloat(of("opacity")) < 0.05,
  "font-size": (of) => /^(?:0[a-z%]*|[01](?:\.\d+)?px)$/.test(of("font-size")),
  "text-indent": isAway("text-indent"),
  "margin-left": isAway("margin-left"),
  left: isAway("left"),
  right: isAway("right"),
  top: isAway("top"),
  bottom: isAway("bottom"),
  width: isFlat("width"),
  height: isFlat("height"),
  "max-height": isFlat("max-height"),
  clip: (of) => /^rect\(\s*(?:[01](?:px)?[\s,]*){4}\)$/.test(of("clip")),
  "clip-path": (of) => /^(?:inset\(\s*(?:50|100)%|circle\(\s*0)/.test(of("clip-path")),
  transform: (of) =>
    /^scale[xy]?\(\s*0\s*[,)]/.test(of("transform")) ||
    [...of("transform").matchAll(/translate\w*\(([^)]*)\)/g)].some(([, by = ""]) => by.split(",").some(isFar)),
  color: (of) =>
    ["transparent", of("background-color"), of("background")].includes(of("color")) &&
    !/text/.test(of("background-clip") + of("-webkit-background-clip")),
};

/**
 * The effect of a declaration block on its elements: the properties by which it hides them, and the
 * properties of that kind that it sets to something else.
 */
type Effect = { readonly hiding: readonly string[]; readonly showing: readonly string[] };

/**
 * Removes what nobody would see on the page: a known way to give instructions to a model without
 * its user noticing. Only inline styles and the page's own style sheets are known here. An element
 * stays when one rule hides it and another shows it by the same property, whichever rule wins.
 */
export function removeHidden(document: ParsedDocument): void {
  let room = mostOfSheets;
  const rules = Array.from(document.querySelectorAll("style")).flatMap((sheet) => {
    const { length } = sheet.textContent ?? "";
    if (length > room) return [];
    room -= length;
    return rulesOf(sheet);
  });
  const hidden = new Set<Element>(document.querySelectorAll(byName));
  for (const element of document.querySelectorAll("[style]")) {
    if (inlineOf(element).hiding.length > 0) hidden.add(element);
  }
  for (const { selector, hiding } of rules.filter((rule) => rule.hiding.length > 0)) {
    const others = rules.filter(({ showing }) => showing.some((property) => hiding.includes(property)));
    for (const element of answered(() => Array.from(document.querySelectorAll(selector)), [])) {
      const shown = others.filter((other) => answered(() => element.matches(other.selector), false));
      const showing = [inlineOf(element), ...shown].flatMap((one) => one.showing);
      if (hiding.some((property) => !showing.includes(property))) hidden.add(element);
    }
  }
  for (const element of hidden) {
    // A page is often hidden as a whole until its scripts have run.
    if (!/^(?:HTML|HEAD|BODY)$/i.test(element.tagName)) element.remove();
  }
}

type SheetRule = Effect & { readonly selector: string };

/**
 * The rules of a style sheet that hide or show something. Rules for some screens only, or for
 * print, never hide.
 */
function rulesOf({ sheet }: Element): SheetRule[] {
  const read = (rules: ArrayLike<Rule>, mayHide: boolean): SheetRule[] =>
    Array.from(rules).flatMap(({ selectorText, style, cssRules, media }) => {
      if (cssRules !== undefined) return read(cssRules, mayHide && /^(?:all|screen)?$/.test(media?.mediaText ?? "not"));
      if (selectorText === undefined || style === undefined) return [];
      const { hiding, showing } = effectOf(style.cssText);
      return hiding.length + showing.length === 0
        ? []
        : [{ selector: selectorText, showing, hiding: mayHide ? hiding : [] }];
    });
  return read(answered(() => sheet?.cssRules, undefined) ?? [], true);
}

function inlineOf(element: Element): Effect {
  return effectOf(element.getAttribute("style") ?? "");
}

function effectOf(block: string): Effect {
  const values = valuesOf(block);
  const of: Values = (property) => values.get(property) ?? "";
  const set = Object.keys(hiders).filter((property) => of(property) !== "");
  const hiding = set.filter((property) => hiders[property]?.(of));
  return { hiding, showing: set.filter((property) => !hiding.includes(property)) };
}

/**
 * The declarations of a block in lower case, as browsers read them: the last of a property counts,
 * but an important one before any other. The parser knows names and values only as written.
 */
function valuesOf(block: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const important = new Set<string>();
  for (const declaration of withoutComments(block.toLowerCase()).split(";")) {
    const colon = declaration.indexOf(":");
    const name = declaration.slice(0, Math.max(0, colon)).trim();
    const given = declaration.slice(colon + 1).trim();
    const value = given.replace(/!\s*important$/, "").trimEnd();
    const isImportant = value.length < given.length;
    if (name === "" || (important.has(name) && !isImportant)) continue;
    values.set(name, value);
    if (isImportant) important.add(name);
  }
  return values;
}

function withoutComments(text: string): string {
  const [first = "", ...more] = text.split("/*");
  return first + more.map((part) => (part.includes("*/") ? part.slice(part.indexOf("*/") + 2) : "")).join("");
}

/**
 * The result of `ask`, or `otherwise` when the parser does not know this selector or style sheet:
 * what cannot be read hides nothing.
 */
function answered<Value>(ask: () => Value, otherwise: Value): Value {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}
