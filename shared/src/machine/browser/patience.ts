import type { Page, Request } from "playwright";
import { AppError } from "../../core/errors.ts";

/** A page that has been asked for and has not answered yet, and for how many seconds. */
export type LoadingPage = { readonly url: string; readonly seconds: number };

/** How long slow pages are waited for: those that load, and those too busy to answer. */
export interface Patience {
  /** The longest wait for a slow page in one act, in milliseconds. */
  readonly maxMs: number;
  watch(page: Page): void;
  /** What the page is about to become, while its server takes its time. */
  loading(page: Page): LoadingPage | undefined;
  /** Whether scripts of the page asked for something a moment ago that is still on its way. */
  isAsking(page: Page): boolean;
  /** Whether a page that did not answer is left open: the first time, until it has answered. */
  leavesOpen(page: Page): boolean;
  /** The page has answered. */
  answered(page: Page): void;
}

/** What is longer on its way is a connection that is kept open, in milliseconds. */
const longestAsking = 2_000;

/** Waits for `maxMs` in one act. */
export function createPatience(maxMs: number): Patience {
  const asked = new WeakMap<Page, { readonly request: Request; readonly since: number }>();
  const silent = new WeakSet<Page>();
  const scripts = new WeakMap<Page, Map<Request, number>>();
  return {
    maxMs,
    watch(page) {
      const open = new Map<Request, number>();
      scripts.set(page, open);
      page.on("request", (request) => {
        if (/^(?:fetch|xhr)$/.test(request.resourceType())) open.set(request, performance.now());
        if (isOfPage(request, page)) asked.set(page, { request, since: asked.get(page)?.since ?? performance.now() });
      });
      const done = (request: Request) => {
        open.delete(request);
        if (asked.get(page)?.request === request) asked.delete(page);
      };
      page.on("requestfailed", done).on("requestfinished", done);
      page.on("framenavigated", (frame) => {
        if (frame === page.mainFrame()) asked.delete(page);
      });
    },
    loading(page) {
      const one = asked.get(page);
      if (one === undefined) return undefined;
      return { url: one.request.url(), seconds: Math.round((performance.now() - one.since) / 1000) };
    },
    isAsking(page) {
      const now = performance.now();
      return [...(scripts.get(page)?.values() ?? [])].some((since) => now - since < longestAsking);
    },
    leavesOpen(page) {
      if (silent.has(page)) return false;
      silent.add(page);
      return true;
    },
    answered: (page) => void silent.delete(page),
  };
}

function isOfPage(request: Request, page: Page): boolean {
  if (!request.isNavigationRequest()) return false;
  try {
    return request.frame() === page.mainFrame();
  } catch {
    return false;
  }
}

/** Says that a page is on its way; it may be waited for. */
export function stillLoading({ url, seconds }: LoadingPage): AppError {
  return new AppError(
    "timeout",
    `The page ${url.slice(0, 300)} is still loading after ${seconds} s, and stays open: wait for it with browser_wait, then look.`,
  );
}
