import type { PageDocument, PageElement, PageObserver } from "./dom.ts";

declare const document: PageDocument & {
  addEventListener(kind: string, listener: (event: { readonly target: unknown }) => void, options: object): void;
  getSelection(): { readonly isCollapsed: boolean } | null;
};
declare const MutationObserver: PageObserver;

/** Notices whether anything in a document changes. */
export type ChangeWatch = { changed: boolean; copied: boolean; noticed: () => void; stop(): void };

/** What came of a watch: whether anything changed, and whether something was copied or cut. */
export type Changes = { readonly changed: boolean; readonly copied: boolean };

/** Runs in the page: begins to watch it. */
export function watchChanges(): ChangeWatch {
  const ended = new AbortController();
  const change = () => {
    watch.changed = true;
    watch.noticed();
  };
  const observer = new MutationObserver(change);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const options = { capture: true, passive: true, signal: ended.signal };
  for (const kind of ["input", "change", "scroll", "toggle", "submit", "select"])
    document.addEventListener(kind, change, options);
  document.addEventListener(
    "selectionchange",
    () => document.getSelection()?.isCollapsed === false && change(),
    options,
  );
  const copy = () => {
    watch.copied = true;
    watch.noticed();
  };
  for (const kind of ["copy", "cut"]) document.addEventListener(kind, copy, options);
  const focused = ({ target }: { readonly target: unknown }) => {
    const element = target as PageElement;
    if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.isContentEditable === true) change();
  };
  document.addEventListener("focusin", focused, options);
  const watch: ChangeWatch = {
    changed: false,
    copied: false,
    noticed: () => undefined,
    stop() {
      if (observer.takeRecords().length > 0) watch.changed = true;
      observer.disconnect();
      ended.abort();
    },
  };
  return watch;
}

/** Runs in the page: what has changed since, or does within so many milliseconds. Ends the watch. */
export function endWatch(watch: ChangeWatch, withinMs: number): Promise<Changes> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      watch.stop();
      resolve({ changed: watch.changed, copied: watch.copied });
    };
    const timer = setTimeout(end, withinMs);
    watch.noticed = end;
    if (watch.changed || watch.copied) end();
  });
}
