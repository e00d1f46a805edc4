import type { Page } from "playwright";
import type { Notices } from "./notices.ts";
import type { Routes } from "./page-routes.ts";

const allowed = /^(?:https?:|about:blank(?:[#?]|$)|blob:https?:|chrome-error:)/i;

/**
 * Whether a page may be at this address: http, https, empty, a blob that a web page made, or the
 * browser's own error page.
 */
function mayBeAt(url: string): boolean {
  return url === "" || url === ":" || allowed.test(url);
}

/**
 * Keeps the pages of a context at http(s) addresses. Files are never read; any other address
 * (`data:`, `chrome:`) is left as soon as it is committed.
 */
export interface NavigationGuard {
  watch(page: Page): void;
  /**
   * Resolves once this page has left any forbidden address, with the one it was at since the last
   * call.
   */
  left(page: Page): Promise<string | undefined>;
}

/** Guards a conversation's pages, before the first one is opened. */
export async function guardNavigation(routes: Routes, notices: Notices): Promise<NavigationGuard> {
  // Fulfilled instead of aborted: the error page of an aborted navigation comes late and interrupts
  // the next one.
  await routes.route("file:///**", (route) => route.fulfill({ status: 403, body: "refused" }));
  const leaving = new WeakMap<Page, { url: string; done: Promise<void> }>();
  const check = (page: Page): void => {
    const url = page.url();
    if (mayBeAt(url) || page.isClosed() || leaving.has(page)) return;
    const shown = url.slice(0, 100);
    notices.add(wasLeft(shown));
    leaving.set(page, { url: shown, done: leave(page) });
  };
  return {
    watch(page) {
      page.on("framenavigated", (frame) => {
        if (frame === page.mainFrame()) check(page);
      });
      check(page);
    },
    async left(page) {
      check(page);
      const entry = leaving.get(page);
      await entry?.done;
      leaving.delete(page);
      return entry?.url;
    },
  };
}

/** The notice for an address that was left. */
export function wasLeft(url: string): string {
  return `The page at ${url} was left: only http and https pages may be opened.`;
}

/** Tries again if another navigation interfered, and finally closes the page. */
async function leave(page: Page): Promise<void> {
  for (let tries = 3; tries > 0 && !page.isClosed() && !mayBeAt(page.url()); tries--)
    await page.goto("about:blank", { timeout: 3_000 }).catch(() => undefined);
  if (!mayBeAt(page.url())) await page.close();
}
