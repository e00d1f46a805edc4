import type { Page } from "playwright";
import { abortable, within } from "../../core/async/within.ts";
import { AppError, messageOf } from "../../core/errors.ts";
import type { ActOptions } from "./browser.ts";
import type { Dialogs } from "./dialogs.ts";
import type { Downloads } from "./downloads.ts";
import { type NavigationGuard, wasLeft } from "./navigation-guard.ts";
import { type Patience, stillLoading } from "./patience.ts";

/** What an action on a page needs besides its bounds. */
export type ActDeps = ActOptions & {
  readonly dialogs: Dialogs;
  readonly guard: NavigationGuard;
  readonly downloads: Downloads | undefined;
  readonly patience: Patience;
  /** Replaces a page that does not recover, and returns what became of it, in a sentence. */
  replace(page: Page): Promise<string>;
  /** Why there is nothing to act on any more. */
  lost(): string | undefined;
};

/** Playwright's own limits come first, so that its reason is not lost. */
const graceMs = 500;
/** What an act may take after the page it waited for has come. */
const arrivedMs = 5_000;
const lookAgainMs = 200;
const answersWithinMs = 1_000;
/**
 * Most downloads that an act starts finish almost at once, even on a busy machine; a long one is
 * reported later, and holds up the acts after it for less.
 */
const ownDownloadMs = 5_000;
const earlierDownloadsMs = 1_500;
const errorPageMs = 1_000;
const browserGoneMs = 200;
const settleMs = 2_000;

const crashedText = "The page crashed.";
const closedText = "The tab was closed while it was acted on.";

const dialogOpened = Symbol("dialog opened");

/**
 * Runs an action on a page until it ends, a dialog blocks the page, or waiting becomes pointless.
 * See `Browsing.act`.
 */
export async function actOn<T>(
  page: Page,
  run: (page: Page) => Promise<T>,
  { signal, timeoutMs, dialogs, guard, downloads, patience, replace, lost }: ActDeps,
): Promise<T | undefined> {
  signal.throwIfAborted();
  await within(settleMs, dialogs.settle(page));
  page.setDefaultTimeout(timeoutMs);
  const ended = new AbortController();
  const downloading = downloadsOf(page, ended.signal);
  const late = new AbortController();
  const begun = performance.now();
  void timeUp(page, timeoutMs + graceMs, patience, ended.signal).then(() => late.abort(new Error("It took too long.")));
  const stop = AbortSignal.any([signal, late.signal]);
  try {
    const outcome = await Promise.race([
      run(page),
      dialogs.opened(page, ended.signal).then(() => dialogOpened),
      broken(page, ended.signal),
      rejection(stop, ended.signal),
    ]);
    const url = await guard.left(page);
    if (url !== undefined) throw new AppError("forbidden", wasLeft(url));
    patience.answered(page);
    if (outcome === dialogOpened) return undefined;
    dialogs.calm(page);
    const began = downloading();
    await within(began ? ownDownloadMs : earlierDownloadsMs, downloads?.settled(began) ?? Promise.resolve());
    return outcome as T;
  } catch (error) {
    signal.throwIfAborted();
    const url = await guard.left(page);
    if (url !== undefined) throw new AppError("forbidden", wasLeft(url), { cause: error });
    await errorPage(error, page);
    const tookMs = performance.now() - begun;
    throw await abortable(
      explained(error, page, { tookMs, timedOut: late.signal.aborted, patience, replace, lost }),
      signal,
    );
  } finally {
    ended.abort();
  }
}

async function explained(
  error: unknown,
  page: Page,
  {
    tookMs,
    timedOut,
    patience,
    replace,
    lost,
  }: Pick<ActDeps, "patience" | "replace" | "lost"> & { readonly tookMs: number; readonly timedOut: boolean },
): Promise<unknown> {
  const broke = brokenBy(error, page);
  if (broke !== undefined) await within(browserGoneMs, browserGone(page));
  const why = lost();
  if (why !== undefined) return new AppError("unavailable", why, { cause: error });
  if (broke !== undefined) {
    const became = broke.gone ? "" : ` ${await replace(page)}`;
    return new AppError("unavailable", `${broke.message}${became}`, { cause: error });
  }
  if (!timedOut && !(error instanceof Error && error.name === "TimeoutError")) return error;
  const loading = patience.loading(page);
  if (loading !== undefined) return stillLoading(loading);
  const answers = await within(Math.max(answersWithinMs, patience.maxMs - tookMs), page.evaluate("true"));
  const said = timedOut ? `It took longer than ${Math.floor(tookMs / 100) / 10} s.` : firstLine(error);
  if (answers === true) patience.answered(page);
  else if (patience.leavesOpen(page))
    return new AppError(
      "timeout",
      `${said} The page is too busy to answer, and stays open: wait with browser_wait, then look; or leave it.`,
      { cause: error },
    );
  if (answers === true)
    return new AppError("timeout", `${said} It may take effect late: look before you try again.`, { cause: error });
  return new AppError("timeout", `${said} The page does not respond any more. ${await replace(page)}`, {
    cause: error,
  });
}

/**
 * Resolves when an act has had its time. While the page it waits for is loading, that is the
 * longest wait for a slow page, and a little more once it has come.
 */
async function timeUp(page: Page, timeoutMs: number, patience: Patience, ended: AbortSignal): Promise<void> {
  const begun = performance.now();
  let until = timeoutMs;
  for (;;) {
    const passed = performance.now() - begun;
    if (patience.loading(page) !== undefined && passed < patience.maxMs) until = Math.max(until, passed + arrivedMs);
    if (passed >= until || ended.aborted) return;
    await Bun.sleep(Math.min(lookAgainMs, until - passed));
  }
}

/** Pages report that they crashed or closed a moment before the browser itself is disconnected. */
async function browserGone(page: Page): Promise<void> {
  const browser = page.context().browser();
  if (browser?.isConnected() === true) await new Promise<void>((done) => browser.once("disconnected", () => done()));
}

/**
 * The error page of a failed navigation comes after the failure, also after one that is told in
 * other words, and would interrupt the next navigation.
 */
async function errorPage(error: unknown, page: Page): Promise<void> {
  const failed = error instanceof AppError ? error.cause : error;
  if (!(failed instanceof Error) || !/net::ERR_(?!ABORTED)/.test(failed.message)) return;
  await within(errorPageMs, page.waitForURL(/^chrome-error:/, { waitUntil: "commit" }));
}

class PageBroken extends Error {
  readonly gone: boolean;

  constructor(message: string, gone: boolean) {
    super(message);
    this.gone = gone;
  }
}

/** Playwright also fails pending calls, sometimes before it emits the event. */
function brokenBy(error: unknown, page: Page): PageBroken | undefined {
  if (error instanceof PageBroken) return error;
  if (page.isClosed()) return new PageBroken(closedText, true);
  const crashed = error instanceof Error && /(?:Page|Target) crashed/.test(error.message);
  return crashed ? new PageBroken(crashedText, false) : undefined;
}

/** Rejects when the page crashes or is closed. */
function broken(page: Page, ended: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const crash = () => reject(new PageBroken(crashedText, false));
    const close = () => reject(new PageBroken(closedText, true));
    page.on("crash", crash).on("close", close);
    ended.addEventListener("abort", () => page.off("crash", crash).off("close", close), { once: true });
  });
}

/** Reports whether the page has started a download since. */
function downloadsOf(page: Page, ended: AbortSignal): () => boolean {
  let began = false;
  const note = () => {
    began = true;
  };
  page.on("download", note);
  ended.addEventListener("abort", () => page.off("download", note), { once: true });
  return () => began;
}

function rejection(signal: AbortSignal, ended: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: ended });
  });
}

/** The first line of Playwright's message, without colours. */
function firstLine(error: unknown): string {
  const text = messageOf(error);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal begin with one
  return text.replace(/\u001b\[\d+m/g, "").split("\n")[0] ?? "";
}
