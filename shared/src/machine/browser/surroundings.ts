import type { BrowserContext, BrowserContextOptions, Page } from "playwright";
import { within } from "../../core/async/within.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { RunningBrowser } from "../browser-process/running-browser.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import { type BrowserEgress, firstHopOnly, throughProxy } from "./browser-egress.ts";
import { createDialogs, type Dialogs } from "./dialogs.ts";
import type { Downloads } from "./downloads.ts";
import type { KeptProfile } from "./keep-profile.ts";
import { followLocalDownloads } from "./local-downloads.ts";
import { guardNavigation, type NavigationGuard } from "./navigation-guard.ts";
import type { Notices } from "./notices.ts";
import { followRemoteDownloads } from "./remote-downloads.ts";
import { openTabs, type Tabs } from "./tabs.ts";

/** A context and everything that watches it. A conversation has one at a time. */
export type Surroundings = {
  readonly context: BrowserContext;
  readonly tabs: Tabs;
  readonly dialogs: Dialogs;
  readonly guard: NavigationGuard;
  readonly downloads: Downloads | undefined;
  close(): Promise<void>;
};

/** What a context is opened in, and for whom. */
export type SurroundingsDeps = {
  readonly running: RunningBrowser;
  readonly proxy: EgressProxy;
  readonly settings: BrowserSettings;
  /** Where downloads go; without it, there are none. */
  readonly workspace: Workspace | undefined;
  readonly notices: Notices;
  readonly nextId: () => number;
  /** What the context begins with. */
  readonly profile?: Pick<KeptProfile, "state" | "hasSomethingOf"> | undefined;
};

const closeMs = 5_000;

type BegunState = Exclude<BrowserContextOptions["storageState"], string | undefined>;

/**
 * Opens a context whose every request goes through the proxy under its own credentials, with one
 * empty tab.
 */
export async function openSurroundings(deps: SurroundingsDeps): Promise<Surroundings> {
  const { running, proxy, settings, notices, nextId, profile } = deps;
  const way = running.here ? throughProxy(proxy, settings, deps) : firstHopOnly(settings, notices);
  const kept = profile && { storageState: profile.state() as BegunState };
  const options = { ...contextOptions(running, settings, way), ...kept };
  const context = await running.browser.newContext(options).catch((error: unknown) => {
    way.revoke();
    throw error;
  });
  const close = async () => {
    await within(closeMs, context.close());
    way.revoke();
  };
  try {
    await context.grantPermissions(settings.geolocation === undefined ? [] : ["geolocation"]);
    await way.guard(context);
    const guard = await guardNavigation(context, notices);
    const dialogs = createDialogs(notices);
    const watch = (page: Page) => {
      dialogs.watch(page);
      guard.watch(page);
    };
    const tabs = await openTabs(context, { most: settings.tabs, nextId, notices, watch });
    const { page } = tabs.active();
    await way.begin(page);
    const downloads = await followDownloads(page, deps);
    return {
      context,
      tabs,
      dialogs,
      guard,
      downloads,
      async close() {
        await close();
        await downloads?.stop();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function followDownloads(page: Page, deps: SurroundingsDeps): Promise<Downloads | undefined> {
  const { running, settings, workspace, notices } = deps;
  if (workspace === undefined) return undefined;
  const folder = await running.folder(`downloads-${crypto.randomUUID()}`);
  const options = { workspace, notices, ...settings };
  if (running.kind !== "chromium") return followRemoteDownloads(page.context(), folder, options);
  return await followLocalDownloads(running.browser, page, folder, options);
}

function contextOptions(
  { browser, kind }: RunningBrowser,
  settings: BrowserSettings,
  { proxy }: BrowserEgress,
): BrowserContextOptions {
  const { viewport, locale, timezone, geolocation, disableSecurity } = settings;
  const major = browser.version().split(".")[0];
  return {
    viewport,
    locale,
    ...(timezone !== undefined && { timezoneId: timezone }),
    ...(geolocation && { geolocation }),
    // A headless browser says so in its user agent, and some sites turn it away.
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
    // The downloads of our own browser are followed without Playwright.
    acceptDownloads: kind !== "chromium",
    ...(proxy !== undefined && { proxy }),
    serviceWorkers: "block",
    ignoreHTTPSErrors: disableSecurity,
    bypassCSP: disableSecurity,
  };
}
