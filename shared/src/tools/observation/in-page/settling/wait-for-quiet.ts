import type { PageDocument, PageElement, PageObserver } from "../dom.ts";

declare const document: PageDocument;
declare const MutationObserver: PageObserver;

/** How long nothing may change, and the longest wait for that, in milliseconds. */
export type QuietPage = { readonly quietMs: number; readonly maxMs: number };

/**
 * Runs in the page: resolves once nothing in it has changed for `quietMs`, or after `maxMs` when
 * it never stops changing.
 */
export function waitForQuiet({ quietMs, maxMs }: QuietPage): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(last);
      resolve();
    };
    let timer = setTimeout(finish, quietMs);
    const last = setTimeout(finish, maxMs);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs);
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

/**
 * Runs in the page: whether a field's entries are the page's own, not those the browser remembers.
 */
export function suggests(field: unknown): boolean {
  return (field as PageElement).matches("[aria-autocomplete],[list],input[autocomplete=off]:not([type=password])");
}

/** Runs in the page, on a field: resolves once elements were added to it, or after so many ms. */
export function untilMore(_: unknown, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(last);
      resolve();
    };
    const last = setTimeout(finish, maxMs);
    const observer = new MutationObserver(finish);
    observer.observe(document, { subtree: true, childList: true, attributes: false, characterData: false });
  });
}
