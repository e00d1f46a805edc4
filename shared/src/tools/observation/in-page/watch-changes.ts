import type { PageDocument, PageElement, PageObserver, PageRoot } from "./dom.ts";

declare const document: PageDocument & {
  addEventListener(kind: string, listener: (event: { readonly target: unknown }) => void, options: object): void;
  getSelection(): { readonly isCollapsed: boolean } | null;
};
declare const MutationObserver: PageObserver;

/** Notices whether anything in a document changes. */
export type ChangeWatch = {
  changed: boolean;
  /** Whether anything else than a style or a class has changed. */
  changedMore: boolean;
  copied: boolean;
  noticed: () => void;
  /** Ends the watch; returns what the page announced meanwhile. */
  stop(): string[];
};

/**
 * The outcome of a watch: whether anything changed, if only styles and classes did, whether
 * something was copied or cut, and what alerts, statuses and invalid fields say now.
 */
export type Changes = {
  readonly changed: boolean | "styles";
  readonly copied: boolean;
  readonly said: readonly string[];
};

/** Runs in the page: starts watching it. */
export function watchChanges(): ChangeWatch {
  const ended = new AbortController();
  const announcing =
    "[role=alert],[role=alertdialog],[role=status],[aria-live=polite],[aria-live=assertive],output,dialog[open]";
  const isVisible = (element: PageElement) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const announced = () =>
    new Map(
      Array.from(document.querySelectorAll(announcing))
        .slice(0, 30)
        .filter(isVisible)
        // biome-ignore lint/performance/useDomNodeTextContent: what cannot be seen does not count
        .map((element) => [element, (element.innerText ?? "").replace(/\s+/g, " ").trim().slice(0, 300)] as const),
    );
  // What a style shows under the mouse changes nothing in the document.
  const shown = () => Array.from(document.querySelectorAll("*")).slice(0, 5_000).filter(isVisible).length;
  const [before, shownBefore] = [announced(), shown()];
  const wrong: string[] = [];
  const note = (more: boolean) => {
    watch.changed = true;
    watch.changedMore ||= more;
    watch.noticed();
  };
  const change = () => note(true);
  const isMore = ({ attributeName }: { readonly attributeName: string | null }) =>
    !/^(?:style|class)$/.test(`${attributeName}`);
  const observer = new MutationObserver((records) => note(records.some(isMore)));
  // An observer of a document sees nothing of its shadow trees.
  const observe = (root: PageRoot) => {
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const { shadowRoot } of Array.from(root.querySelectorAll("*"))) if (shadowRoot !== null) observe(shadowRoot);
  };
  observe(document);
  const options = { capture: true, passive: true, signal: ended.signal };
  for (const kind of ["input", "change", "scroll", "toggle", "submit", "select"])
    document.addEventListener(kind, change, options);
  const selected = () => document.getSelection()?.isCollapsed === false && change();
  document.addEventListener("selectionchange", selected, options);
  const copy = () => {
    watch.copied = true;
    watch.noticed();
  };
  for (const kind of ["copy", "cut"]) document.addEventListener(kind, copy, options);
  const invalid = ({ target }: { readonly target: unknown }) => {
    const field = target as PageElement;
    const name = field.getAttribute("aria-label") ?? field.labels?.[0]?.textContent ?? field.getAttribute("name") ?? "";
    if (wrong.length < 10) wrong.push(`${name.trim() || "a field"}: ${field.validationMessage ?? "is not valid"}`);
    change();
  };
  document.addEventListener("invalid", invalid, options);
  const focused = ({ target }: { readonly target: unknown }) => {
    const element = target as PageElement;
    if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.isContentEditable === true) change();
  };
  document.addEventListener("focusin", focused, options);
  const watch: ChangeWatch = {
    changed: false,
    changedMore: false,
    copied: false,
    noticed: () => undefined,
    stop() {
      const records = observer.takeRecords();
      if (records.length > 0) note(records.some(isMore));
      if (!watch.changed && shown() !== shownBefore) note(true);
      observer.disconnect();
      ended.abort();
      const fresh = [...announced()].filter(([element, text]) => text !== "" && before.get(element) !== text);
      return [...new Set([...fresh.map(([, text]) => text), ...wrong])].slice(0, 10);
    },
  };
  return watch;
}

/** Runs in the page: whether anything has changed since, or changes within so many milliseconds. */
export function untilChanged(watch: ChangeWatch, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const isSeen = () => watch.changed || watch.copied;
    const end = () => {
      clearTimeout(timer);
      resolve(isSeen());
    };
    const timer = setTimeout(end, withinMs);
    watch.noticed = end;
    if (isSeen()) end();
  });
}

/** Runs in the page: what has changed since. Ends the watch. */
export function endWatch(watch: ChangeWatch): Changes {
  const said = watch.stop();
  const changed = watch.changed && !watch.changedMore ? "styles" : watch.changed;
  return { changed, copied: watch.copied, said };
}
