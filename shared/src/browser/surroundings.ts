import type { BrowserContext, BrowserContextOptions, Page } from "playwright";
import { type EgressProxy, proxyGreeting } from "../egress/proxy.ts";
import type { ProxiedRequest } from "../egress/proxy-access.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { createDialogs, type Dialogs } from "./dialogs.ts";
import { type Downloads, followLocalDownloads } from "./local-downloads.ts";
import { guardNavigation, type NavigationGuard } from "./navigation-guard.ts";
import type { Notices } from "./notices.ts";
import type { RunningBrowser } from "./running-browser.ts";
import type { BrowserSettings } from "./settings.ts";
import { openTabs, type Tabs } from "./tabs.ts";
import { within } from "./within.ts";

/** A context with everything that watches over it. A conversation has one at a time. */
export type Surroundings = {
  readonly context: BrowserContext;
  readonly tabs: Tabs;
  readonly dialogs: Dialogs;
  readonly guard: NavigationGuard;
  readonly downloads: Downloads | undefined;
  close(): Promise<void>;
};

/** What it is opened in and for. */
export type SurroundingsDeps = {
  readonly running: RunningBrowser;
  readonly proxy: EgressProxy;
  readonly settings: BrowserSettings;
  readonly workspace: Workspace;
  readonly notices: Notices;
  readonly nextId: () => number;
};

const closeMs = 5_000;

/** Opens a context whose every request goes through the proxy under a name of its own, with one empty tab. */
export async function openSurroundings(deps: SurroundingsDeps): Promise<Surroundings> {
  const { running, proxy, settings, notices, nextId } = deps;
  const user = proxy.admit((request) => {
    settings.onRequest?.(request);
    tellRefused(request, notices);
  });
  const credentials = { server: proxy.url, username: user.username, password: user.password, bypass: "<-loopback>" };
  const context = await running.browser.newContext({ ...contextOptions(running, settings), proxy: credentials });
  try {
    await context.grantPermissions([]);
    const guard = await guardNavigation(context, notices);
    const dialogs = createDialogs(notices, settings.dialogMs);
    const watch = (page: Page) => {
      dialogs.watch(page);
      guard.watch(page);
    };
    const tabs = await openTabs(context, { most: settings.tabs, nextId, notices, watch });
    const { page } = tabs.active();
    // With the answer to this the browser knows the credentials for what cannot be asked for them, such as a WebSocket.
    await page.goto(proxyGreeting);
    await page.goto("about:blank");
    const folder = await running.folder?.(`downloads-${crypto.randomUUID()}`);
    const downloads =
      folder === undefined ? undefined : await followLocalDownloads(running, page, folder, { ...deps, ...settings });
    return {
      context,
      tabs,
      dialogs,
      guard,
      downloads,
      async close() {
        await within(closeMs, context.close());
        user.revoke();
        await downloads?.stop();
      },
    };
  } catch (error) {
    await within(closeMs, context.close());
    user.revoke();
    throw error;
  }
}

function contextOptions({ browser }: RunningBrowser, settings: BrowserSettings): BrowserContextOptions {
  const { viewport, locale, disableSecurity } = settings;
  const major = browser.version().split(".")[0];
  return {
    viewport,
    locale,
    // A browser without a window says so in its name, which some sites turn away.
    userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
    acceptDownloads: false,
    serviceWorkers: "block",
    ignoreHTTPSErrors: disableSecurity,
    bypassCSP: disableSecurity,
  };
}

function tellRefused({ method, target, refused }: ProxiedRequest, notices: Notices): void {
  if (refused !== undefined) notices.add(`The request ${method} ${target.slice(0, 200)} was refused: ${refused}`);
}
