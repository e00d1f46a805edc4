import type { PageDocument, PageObserver } from "./dom.ts";

declare const document: PageDocument;
declare const MutationObserver: PageObserver;

/** How long nothing may change, and how long that is waited for, in milliseconds. */
export type QuietPage = { readonly quietMs: number; readonly mostMs: number };

/**
 * Runs in the page: resolves once nothing in it has changed for a while, or when it never stops.
 */
export function waitForQuiet({ quietMs, mostMs }: QuietPage): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(timer);
      clearTimeout(last);
      resolve();
    };
    let timer = setTimeout(finish, quietMs);
    const last = setTimeout(finish, mostMs);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs);
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}
