import type { BrowserContext, BrowserContextOptions, Page } from "playwright";
import { closeAll } from "../../core/async/close-all.ts";
import { within } from "../../core/async/within.ts";
import { localCaller } from "../../core/caller.ts";
import type { Workspace } from "../../core/workspace.ts";
import { appearance, userAgentOf } from "../browser-process/appearance.ts";
import type { OwnContext } from "../browser-process/own-browser.ts";
import type { RunningBrowser } from "../browser-process/running-browser.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import { alreadyProxied, type BrowserEgress, judgedHere, throughProxy } from "./browser-egress.ts";
import { createDialogs, type Dialogs } from "./dialogs.ts";
import type { Downloads } from "./downloads.ts";
import type { KeptProfile } from "./keep-profile.ts";
import { followLocalDownloads } from "./local-downloads.ts";
import { guardNavigation, type NavigationGuard } from "./navigation-guard.ts";
import type { Notices } from "./notices.ts";
import { createPageRoutes, type Routes } from "./page-routes.ts";
import { createPatience, type Patience } from "./patience.ts";
import { followRemoteDownloads, tellOfDownloads, type WatchedDownloads } from "./remote-downloads.ts";
import { createRequestHops, type RequestHops } from "./request-hops.ts";
import { createSentDocuments, type SentDocuments } from "./sent-documents.ts";
import { openTabs, type Tabs } from "./tabs.ts";

/** A context and everything that watches it. A conversation has one at a time. */
export type Surroundings = {
  readonly context: BrowserContext;
  readonly routes: Routes;
  readonly hops: RequestHops;
  readonly tabs: Tabs;
  readonly dialogs: Dialogs;
  readonly guard: NavigationGuard;
  readonly downloads: Downloads | undefined;
  readonly patience: Patience;
  readonly sent: SentDocuments;
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

/** Whether this browsing is tabs in the context of the browser's user. */
export function usesOwnContext({ running, workspace }: Pick<SurroundingsDeps, "running" | "workspace">): boolean {
  return running.own !== undefined && workspace?.principal === localCaller.principal;
}

/**
 * Opens a context whose every request goes through the proxy under its own credentials, with one
 * empty tab; or such a tab in the user's own context, which is left as it was when this is closed.
 */
export async function openSurroundings(deps: SurroundingsDeps): Promise<Surroundings> {
  const place = await openPlace(deps);
  const { settings, notices, nextId } = deps;
  const { context, routes, way, ownsAll } = place;
  const dialogs = createDialogs(notices);
  const sent = createSentDocuments(context);
  try {
    const hops = createRequestHops(routes);
    await way.guard(routes, hops);
    const guard = await guardNavigation(routes, notices);
    const patience = createPatience(settings.patienceMs);
    const remote = await remoteDownloads(deps, ownsAll);
    const watch = async (page: Page) => {
      dialogs.watch(page);
      guard.watch(page);
      patience.watch(page);
      sent.watch(page);
      remote?.watch(page);
      await place.prepare(page);
      await hops.watch(page);
    };
    const tabs = await openTabs(context, { most: settings.tabs, nextId, notices, watch, ownsAll });
    place.tabs = tabs;
    const { page } = tabs.active();
    await way.begin(page);
    const downloads = remote ?? (await localDownloads(page, deps));
    return {
      context,
      routes,
      hops,
      tabs,
      dialogs,
      guard,
      downloads,
      patience,
      sent,
      close: () => closeAll(sent.stop, place.close, downloads?.stop),
    };
  } catch (error) {
    await closeAll(sent.stop, place.close);
    throw error;
  }
}

/** Where a conversation's tabs are. */
type Place = {
  readonly context: BrowserContext;
  readonly way: BrowserEgress;
  readonly routes: Routes;
  /** Whether all tabs of the context are the conversation's. */
  readonly ownsAll: boolean;
  prepare(page: Page): Promise<void>;
  tabs: Tabs | undefined;
  close(): Promise<void>;
};

async function openPlace(deps: SurroundingsDeps): Promise<Place> {
  const { running, proxy, settings, notices, profile } = deps;
  if (running.own !== undefined && usesOwnContext(deps)) return ownPlace(running.own, settings, notices);
  const way = running.here ? throughProxy(proxy, settings, deps) : judgedHere(settings, notices);
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
  const place = {
    context,
    way,
    routes: context,
    ownsAll: true,
    prepare: async () => undefined,
    tabs: undefined,
    close,
  };
  await context.grantPermissions(settings.geolocation === undefined ? [] : ["geolocation"]).catch(async (error) => {
    await close();
    throw error;
  });
  return place;
}

/** Tabs in the user's own context. Its other tabs are never looked at, changed or closed. */
function ownPlace({ context, listeners }: OwnContext, settings: BrowserSettings, notices: Notices): Place {
  const pages = createPageRoutes();
  const way = listeners === undefined ? judgedHere(settings, notices) : alreadyProxied(listeners, notices);
  const place: Place = {
    context,
    way,
    routes: pages,
    ownsAll: false,
    async prepare(page) {
      await pages.add(page);
      if (listeners === undefined) await tellOfDownloads(page, notices);
    },
    tabs: undefined,
    async close() {
      way.revoke();
      await within(closeMs, place.tabs?.closeAll() ?? Promise.resolve());
    },
  };
  return place;
}

/** Undefined where downloads are followed otherwise, or not at all. */
async function remoteDownloads(deps: SurroundingsDeps, ownsAll: boolean): Promise<WatchedDownloads | undefined> {
  const { running, workspace } = deps;
  const isUsers = !ownsAll && running.own?.listeners === undefined;
  if (workspace === undefined || isUsers || (ownsAll && running.kind === "chromium")) return undefined;
  return followRemoteDownloads(await downloadFolder(running), { workspace, notices: deps.notices, ...deps.settings });
}

async function localDownloads(page: Page, deps: SurroundingsDeps): Promise<Downloads | undefined> {
  const { running, settings, workspace, notices } = deps;
  if (workspace === undefined || running.kind !== "chromium" || usesOwnContext(deps)) return undefined;
  return await followLocalDownloads(running.browser, page, await downloadFolder(running), {
    workspace,
    notices,
    ...settings,
  });
}

const downloadFolder = (running: RunningBrowser) => running.folder(`downloads-${crypto.randomUUID()}`);

function contextOptions(
  { browser, kind }: RunningBrowser,
  settings: BrowserSettings,
  { proxy }: BrowserEgress,
): BrowserContextOptions {
  return {
    ...appearance(settings),
    userAgent: userAgentOf(browser.version()),
    // The downloads of our own browser are followed without Playwright.
    acceptDownloads: kind !== "chromium",
    ...(proxy !== undefined && { proxy }),
  };
}
