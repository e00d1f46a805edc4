import { expect } from "bun:test";
import axe from "axe-core";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright";

const waitMs = 60_000;

/**
 * What shows that a run goes on is drawn sixty times a second: a fifteenth of what a page costs.
 */
export const stillPage = { reducedMotion: "reduce" } as const;

/**
 * A page of the console. Closing it throws if it complained, or asked anyone but its own origin.
 */
export type OpenedPage = AsyncDisposable & { readonly page: Page };

/** A Chromium that the tests of a file share. */
export interface ConsoleBrowser {
  /** Opens an address of the console in a context of its own. */
  page(url: string, look?: BrowserContextOptions): Promise<OpenedPage>;
  close(): Promise<void>;
}

/** Starts a Chromium of this machine, as `startChromium` does. */
export async function openBrowser(needs?: Parameters<typeof startChromium>[1]): Promise<ConsoleBrowser> {
  const browser = await startChromium([], needs);
  return { page: (url, look = {}) => openPage(browser, url, look), close: () => browser.close() };
}

const refused = "The policy of this page refused";

/**
 * Runs in each document of a page, and says what its policy refused. In the frame for pages that
 * agents wrote, a refusal is what the policy is for.
 */
const tellRefusals = `if (!location.pathname.startsWith("/frame"))
  addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) =>
    console.info("${refused} " + blockedURI + " (" + effectiveDirective + ")"));`;

async function openPage(browser: Browser, url: string, look: BrowserContextOptions): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...stillPage, ...look });
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const faults: string[] = [];
  const elsewhere = new Set<string>();
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    // The browser's own viewer of documents is an extension.
    const isOwn =
      /^(blob|data|about|chrome|chrome-extension):/.test(request.url()) ||
      request.url().startsWith(new URL(url).origin);
    if (!isOwn) elsewhere.add(request.url());
  });
  // What the page's policy refuses is announced, and never leaves the browser.
  page.on("requestfailed", (request) => {
    if (request.failure()?.errorText === "csp") elsewhere.delete(request.url());
  });
  await page.addInitScript(tellRefusals);
  page.on("console", (message) => {
    const text = message.text();
    // Of what a policy refused, the browser may name another document than the one whose it is.
    const isFault = text.includes("Content Security Policy") && !text.includes("violates the following");
    if (isFault || text.startsWith(refused)) faults.push(text);
  });
  await page.goto(url);
  return {
    page,
    async [Symbol.asyncDispose]() {
      await context.close();
      const all = [...faults, ...elsewhere];
      if (all.length > 0) throw new Error(`the page complained: ${all.join("\n")}`);
    },
  };
}

/**
 * Presses until `isDone`: a card ignores presses right after it appeared, and the button may be
 * gone by then.
 */
export async function pressUntil(button: Locator, isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + waitMs; !(await isDone()); await Bun.sleep(50)) {
    if (Date.now() > deadline) throw new Error("the press had no effect");
    await button.click({ timeout: 1_000 }).catch(() => undefined);
  }
}

/**
 * What axe finds against WCAG 2.2 AA on the page as it is: the rules, and where. It describes no
 * elements but those, which takes half the time.
 */
export async function accessibilityFaults(page: Page): Promise<readonly (readonly [string, readonly string[]])[]> {
  if (await page.evaluate("window.axe === undefined")) await page.evaluate(axe.source);
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = (await page.evaluate(`axe.run(${JSON.stringify({ runOnly, resultTypes: ["violations"] })})`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))] as const);
}

/** Expects axe to find nothing on the page as it is. */
export async function expectAccessible(page: Page): Promise<void> {
  expect([page.url(), await accessibilityFaults(page)]).toEqual([page.url(), []]);
}
