import type { Page as BrowserPage } from "playwright";
import { AppError } from "../../core/errors.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import { copyVisible } from "../observation/in-page/copy-visible.ts";
import { unseenTextOf } from "../observation/looking.ts";
import { untilShown } from "../observation/until-shown.ts";
import { extractInWorker } from "../page/extract-in-worker.ts";

/** A document of the web as a model can read it. */
export type Page = {
  /** The final URL, after redirects. */
  readonly url: string;
  readonly title: string;
  readonly mediaType: string;
  /** HTML and documents as Markdown, any other text unchanged. */
  readonly text: string;
  /** The file itself, if it is a document such as a PDF. */
  readonly document?: Uint8Array;
  /** What the reader should know about how it was read, in one sentence. */
  readonly note?: string | undefined;
  /** Whether it has a field for a password. */
  readonly asksPassword?: boolean;
};

/** `render`: always, never or, when omitted, when a page is nearly empty without its scripts. */
export type PageReadOptions = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly render?: boolean | undefined;
  /** Called before each server that is asked, so never when the address itself is refused. */
  readonly onHop?: (() => void) | undefined;
};

/**
 * With less text than this, in characters, a page that has scripts is taken for one that its
 * scripts make.
 */
export const nearlyEmpty = 200;

/** Whether a page has a field for a password. */
export function asksPassword(html: string): boolean {
  return /<input\b[^>]{0,500}\btype\s*=\s*["']?password\b/i.test(html);
}

/**
 * Whether a browser should read the page again: on request or, when nothing is requested, when the
 * page's scripts seem to make its text.
 */
export function wantsRendering({ text }: Page, html: string, asked: boolean | undefined): boolean {
  return asked ?? (text.length < nearlyEmpty && /<script[\s>]/i.test(html));
}

/**
 * The page as a browser shows it. When there is no browser, or it fails without having been
 * requested, the page as it was sent with a note that says so. Rejects as `BrowserHost.render` does
 * when it was requested.
 */
export async function readRendered(
  plain: Page,
  browser: Pick<BrowserHost, "render"> | undefined,
  { timeoutMs, signal, render }: PageReadOptions,
): Promise<Page> {
  if (browser === undefined)
    return { ...plain, note: "The page may make its text by scripts, which needs a browser; there is none here." };
  try {
    let sign = "";
    const read = async (page: BrowserPage) => {
      sign = await untilShown(page, { signal, maxMs: Math.min(shownMs, timeoutMs / 4) });
      return await readSeen(page);
    };
    const { url, html } = await browser.render(plain.url, { timeoutMs, signal, read });
    const rendered = await extractInWorker({ html, url }, timeoutMs, signal);
    const lasting = sign === "" ? "" : ` It still showed ${sign}: more may come later.`;
    if (render !== true && rendered.text.length <= plain.text.length)
      return lasting === "" ? plain : { ...plain, note: `The page makes its text by scripts.${lasting}` };
    const about = { url, mediaType: plain.mediaType, asksPassword: asksPassword(html) };
    return { ...rendered, ...about, note: `The page was read after its scripts ran.${lasting}` };
  } catch (error) {
    signal.throwIfAborted();
    if (render === true || !(error instanceof AppError)) throw error;
    return { ...plain, note: `The page may make its text by scripts, and no browser could show it: ${error.message}` };
  }
}

/** What a page shows to be loading is waited for as long. */
const shownMs = 4_000;

/** The page's HTML without what a person could not see there. */
async function readSeen(page: BrowserPage): Promise<string> {
  return (await page.evaluate(copyVisible, await unseenTextOf(page.mainFrame()))).html;
}
