import type { BrowserContext, Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import { answered } from "../browser-process/answered.ts";
import type { Tab } from "./browser.ts";
import type { Notices } from "./notices.ts";

/** The tabs of one context. */
export interface Tabs {
  all(): readonly Tab[];
  active(): Tab;
  /**
   * Resolves when there is a tab again after the last one closed itself. Rejects if none opens.
   */
  ready(): Promise<void>;
  activate(id: number): Promise<Tab>;
  open(): Promise<Tab>;
  close(id: number): Promise<void>;
  /** Closes all of them for good. */
  closeAll(): Promise<void>;
  /** The tab of a page, while it is open. */
  of(page: Page): Tab | undefined;
}

/** The options of `openTabs`. `nextId` keeps counting across all contexts of a conversation. */
export type TabsOptions = {
  readonly most: number;
  readonly nextId: () => number;
  readonly notices: Notices;
  /** Called for each page before it is used, which waits for it. */
  readonly watch: (page: Page) => Promise<void>;
  /** Whether every page of the context is one of these tabs, whoever opened it. */
  readonly ownsAll: boolean;
};

const openMs = 5_000;
const maxTries = 3;

/**
 * Follows the pages of a context, or those that are opened here and by each other. There is at
 * least one when this resolves.
 */
export async function openTabs(context: BrowserContext, options: TabsOptions): Promise<Tabs> {
  const { most, nextId, notices, watch, ownsAll } = options;
  const tabs = new Map<Page, Tab>();
  const watched = createWatched(watch);
  let chosen: Page | undefined;
  let ended = false;
  const add = (page: Page) => {
    if (tabs.has(page) || page.isClosed()) return;
    if (tabs.size >= most) {
      notices.add(`A tab that a page opened was closed at once: there are ${most} already.`);
      void page.close().catch(() => undefined);
      return;
    }
    const id = nextId();
    tabs.set(page, { id, page });
    closeOnCrash(page, id, notices);
    page.on("close", () => {
      tabs.delete(page);
      void fill().catch(() => undefined);
    });
    page.on("popup", (popup) => {
      add(popup);
      const tab = tabs.get(popup);
      if (tab === undefined) return;
      chosen = popup;
      notices.add(`The page opened tab ${tab.id}, which is the active one now.`);
    });
    watched.add(page);
  };
  if (ownsAll) context.on("page", add);
  const open = async (): Promise<Tab> => {
    const page = tabs.size < most ? await context.newPage() : undefined;
    if (page !== undefined) add(page);
    await watched.all();
    const tab = page && tabs.get(page);
    if (tab === undefined && tabs.size < most)
      throw new AppError("unavailable", "The tab was closed while it was opened.");
    if (tab === undefined)
      throw new AppError("conflict", `There are ${most} tabs, which is the limit. Close one first.`);
    chosen = page;
    return tab;
  };
  const fill = createFill(() => tabs.size === 0 && !ended, open);
  const active = (): Tab => (chosen && tabs.get(chosen)) ?? newestOf([...tabs.values()]);
  await open();
  return {
    all: () => [...tabs.values()],
    active,
    open,
    async ready() {
      await fill();
      await watched.all();
    },
    async closeAll() {
      ended = true;
      await Promise.all([...tabs.keys()].map((page) => page.close().catch(() => undefined)));
    },
    of: (page) => tabs.get(page),
    async activate(id) {
      const tab = tabNumbered(tabs, id);
      chosen = tab.page;
      await tab.page.bringToFront();
      return tab;
    },
    async close(id) {
      const { page } = tabNumbered(tabs, id);
      await page.close();
      await fill().catch(() => undefined);
    },
  };
}

/** What is done with pages before they are used. */
function createWatched(watch: TabsOptions["watch"]) {
  const watched = new Map<Page, Promise<void>>();
  return {
    add(page: Page): void {
      const done = watch(page);
      done.catch(() => undefined);
      watched.set(page, done);
      page.on("close", () => watched.delete(page));
    },
    /** Waits for all of it. What failed because its page has closed holds up no other. */
    async all(): Promise<void> {
      for (const [page, done] of [...watched])
        await done.catch((error: unknown) => {
          if (watched.has(page)) throw error;
        });
    },
  };
}

/**
 * Opens a tab where one is needed, once for all who ask meanwhile. One that is opened while the
 * last one closes may be closed with it, so it is tried again.
 */
function createFill(isNeeded: () => boolean, open: () => Promise<unknown>): () => Promise<void> {
  let filling: Promise<void> | undefined;
  const fill = async (): Promise<void> => {
    for (let tries = 1; isNeeded(); tries++)
      try {
        await answered(openMs, open());
      } catch (error) {
        if (isNeeded() && tries >= maxTries) throw error;
      }
  };
  return () => {
    filling ??= Promise.resolve()
      .then(fill)
      .finally(() => {
        filling = undefined;
      });
    return filling;
  };
}

function closeOnCrash(page: Page, id: number, notices: Notices): void {
  page.on("crash", () => {
    notices.add(`The page of tab ${id} crashed, and the tab was closed.`);
    void page.close().catch(() => undefined);
  });
}

function tabNumbered(tabs: ReadonlyMap<Page, Tab>, id: number): Tab {
  const all = [...tabs.values()];
  const tab = all.find((entry) => entry.id === id);
  if (tab !== undefined) return tab;
  const known = all.map((entry) => entry.id).join(", ");
  throw new AppError("not_found", `There is no tab ${id}. The tabs are ${known}.`);
}

function newestOf(tabs: readonly Tab[]): Tab {
  const tab = tabs.at(-1);
  if (tab === undefined) throw new AppError("unavailable", "The last tab has just closed. Open one.");
  return tab;
}
