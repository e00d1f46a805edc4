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

/** What a page's code says of an element. */
export type Marks = {
  /** What it, the pictures in it and its form are called in code: ids, classes, data attributes, addresses of icons, handlers. */
  readonly marks: readonly string[];
  /** Whether it looks like something to press, or says so. */
  readonly isPressed: boolean;
  /** Where a link leads that does nothing else; empty for what is no such link. */
  readonly leads: string;
  /** How many things to press the document has, of which this is one. */
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
