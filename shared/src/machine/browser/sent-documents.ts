import type { BrowserContext, Page, Request } from "playwright";
import { frameOf } from "./request-hops.ts";

/** What a page's document was asked for with, when that did more than read. */
export type SentDocument = { readonly method: string; readonly url: string };

/** Loading a page again, or another one of its tab by going back or forward. */
export type LoadingAnew = "again" | "back" | "forward";

/**
 * Which pages show what was answered to a form: loading such a page anew sends the form once more,
 * without any word from the browser, which keeps no answers here.
 */
export interface SentDocuments {
  watch(page: Page): void;
  /** What loading the page anew would send; undefined when it would only read. */
  anew(page: Page, how: LoadingAnew): Promise<SentDocument | undefined>;
  stop(): void;
}

/** Of pages that are not known yet, so many requests are kept. */
const maxEarly = 50;
const maxAddresses = 200;

/**
 * Follows the pages that `watch` is called with. What a page that another one opens asks for first
 * is asked before the page is known, so that is heard from the context.
 */
export function createSentDocuments(context: Pick<BrowserContext, "on" | "off">): SentDocuments {
  const early = new Set<Request>();
  const asked = new WeakMap<Page, Request>();
  const failed = new WeakSet<Request>();
  // By the address, since a page that is gone back to may be shown without being asked for.
  const sent = new WeakMap<Page, Map<string, SentDocument>>();
  const note = (request: Request) => {
    if (!request.isNavigationRequest() || frameOf(request) !== undefined) return;
    early.add(request);
    const [oldest] = early;
    if (early.size > maxEarly && oldest !== undefined) early.delete(oldest);
  };
  const shown = (page: Page): void => {
    const request = asked.get(page);
    if (request === undefined) return;
    const at = page.url();
    const isThere = failed.has(request) ? at.startsWith("chrome-error:") : bare(request.url()) === bare(at);
    if (!isThere) return;
    const known = sent.get(page) ?? new Map<string, SentDocument>();
    sent.set(page, known);
    known.delete(bare(at));
    if (request.method() === "GET") return;
    known.set(bare(at), { method: request.method(), url: request.url() });
    const [oldest = ""] = known.keys();
    if (known.size > maxAddresses) known.delete(oldest);
  };
  context.on("request", note);
  return {
    watch(page) {
      page.on("request", (request) => {
        if (request.isNavigationRequest() && frameOf(request) === page.mainFrame()) asked.set(page, request);
      });
      page.on("requestfailed", (request) => failed.add(request));
      page.on("framenavigated", (frame) => {
        if (frame === page.mainFrame()) shown(page);
      });
      for (const request of early) {
        if (frameOf(request) !== page.mainFrame()) continue;
        early.delete(request);
        asked.set(page, request);
      }
      shown(page);
    },
    async anew(page, how) {
      const known = sent.get(page);
      if (known === undefined || known.size === 0) return undefined;
      const url = how === "again" ? page.url() : await neighbourOf(page, how === "back" ? -1 : 1);
      return url === undefined ? undefined : known.get(bare(url));
    },
    stop: () => void context.off("request", note),
  };
}

/** The address that the tab would go to; undefined when there is none. */
async function neighbourOf(page: Page, step: -1 | 1): Promise<string | undefined> {
  const session = await page.context().newCDPSession(page);
  try {
    const { entries, currentIndex } = await session.send("Page.getNavigationHistory");
    return entries[currentIndex + step]?.url;
  } finally {
    await session.detach().catch(() => undefined);
  }
}

/** An address without the place in its document. */
function bare(url: string): string {
  return url.replace(/#.*$/, "");
}
