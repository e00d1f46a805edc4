import { AppError } from "../../core/errors.ts";
import { abortable, within } from "../../core/within.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { RenderedPage, RenderOptions } from "./browser.ts";
import { openBrowsing } from "./browsing.ts";
import { createNotices } from "./notices.ts";
import type { BrowserAndProxy } from "./shared-browser.ts";

/** Scripts on some pages keep making requests for ever. */
const settleMs = 4_000;
const longestHtml = 10_000_000;

/**
 * Loads pages in throwaway contexts, one after the other: each costs the memory of a whole context.
 */
export interface PageRenderer {
  /** See `BrowserHost.render`. */
  render(url: string, options: RenderOptions): Promise<RenderedPage>;
  busy(): boolean;
}

/** Renders with the browser that `browser` returns. */
export function createPageRenderer(browser: () => Promise<BrowserAndProxy>, settings: BrowserSettings): PageRenderer {
  let underWay = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    busy: () => underWay > 0,
    async render(url, options) {
      underWay++;
      const turn = last.then(async () => await renderPage(await browser(), settings, url, options));
      last = turn.catch(() => undefined);
      try {
        return await abortable(turn, options.signal);
      } finally {
        underWay--;
      }
    },
  };
}

async function renderPage(
  browser: BrowserAndProxy,
  settings: BrowserSettings,
  url: string,
  { signal, timeoutMs, read = (page) => page.content() }: RenderOptions,
): Promise<RenderedPage> {
  const opening = openBrowsing({
    ...browser,
    settings,
    workspace: undefined,
    notices: createNotices(),
    nextId: () => 1,
  });
  try {
    const browsing = await abortable(opening, signal);
    const rendered = await browsing.act(
      async (page) => {
        await page.goto(url, { waitUntil: "domcontentloaded" });
        await within(Math.min(settleMs, timeoutMs / 2), page.waitForLoadState("networkidle"));
        const length = Number(await page.evaluate("document.documentElement.outerHTML.length"));
        if (length > longestHtml) throw new AppError("too_large", `The page has become ${length} characters long.`);
        return { url: page.url(), html: await read(page) };
      },
      { signal, timeoutMs },
    );
    if (rendered === undefined) throw new AppError("unavailable", "The page asks a question before it shows anything.");
    return rendered;
  } finally {
    // Without downloads and cookies there is nothing to wait for.
    void opening.then((browsing) => browsing.close()).catch(() => undefined);
  }
}
