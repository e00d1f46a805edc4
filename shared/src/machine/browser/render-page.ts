import { abortable, within } from "../../core/async/within.ts";
import { AppError } from "../../core/errors.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { ActOptions, RenderedPage, RenderOptions } from "./browser.ts";
import { type KeptBrowsing, openBrowsing } from "./browsing.ts";
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
  /** See `BrowserHost.print`. */
  print(html: string, options: ActOptions): Promise<Uint8Array>;
  busy(): boolean;
}

/** Renders with the browser that `browser` returns. */
export function createPageRenderer(browser: () => Promise<BrowserAndProxy>, settings: BrowserSettings): PageRenderer {
  let underWay = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async <T>(signal: AbortSignal, work: (browsing: KeptBrowsing) => Promise<T>): Promise<T> => {
    underWay++;
    const turn = last.then(async () => await inThrowaway(await browser(), settings, signal, work));
    last = turn.catch(() => undefined);
    try {
      return await abortable(turn, signal);
    } finally {
      underWay--;
    }
  };
  return {
    busy: () => underWay > 0,
    render: (url, options) => inTurn(options.signal, (browsing) => renderPage(browsing, url, options)),
    print: (html, options) => inTurn(options.signal, (browsing) => printPage(browsing, html, options)),
  };
}

async function inThrowaway<T>(
  browser: BrowserAndProxy,
  settings: BrowserSettings,
  signal: AbortSignal,
  work: (browsing: KeptBrowsing) => Promise<T>,
): Promise<T> {
  const opening = openBrowsing({
    ...browser,
    settings,
    workspace: undefined,
    notices: createNotices(),
    nextId: () => 1,
  });
  try {
    return await work(await abortable(opening, signal));
  } finally {
    // Without downloads and cookies there is nothing to wait for.
    void opening.then((browsing) => browsing.close()).catch(() => undefined);
  }
}

async function renderPage(
  browsing: KeptBrowsing,
  url: string,
  { signal, timeoutMs, read = (page) => page.content() }: RenderOptions,
): Promise<RenderedPage> {
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
}

const nothing = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";
const pageMargin = { top: "18mm", bottom: "18mm", left: "16mm", right: "16mm" };

async function printPage(browsing: KeptBrowsing, html: string, options: ActOptions): Promise<Uint8Array> {
  const printed = await browsing.act(async (page) => {
    // A policy of its own, whatever the document says: nothing is loaded, and no script runs.
    const quiet = html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${nothing}">`);
    await page.setContent(quiet, { waitUntil: "load" });
    return await page.pdf({ format: "A4", printBackground: true, margin: pageMargin });
  }, options);
  if (printed === undefined) throw new AppError("unavailable", "The document asked a question before it was printed.");
  return printed;
}
