import type { Page, Request } from "playwright";
import { abortable, within } from "../../core/async/within.ts";
import { AppError } from "../../core/errors.ts";
import { answered } from "../browser-process/answered.ts";
import type { StorageState } from "../browser-profile/profile-store.ts";
import { actOn } from "./act.ts";
import type { ActOptions, Browsing } from "./browser.ts";
import type { JudgeHop } from "./request-hops.ts";
import { openSurroundings, type Surroundings, type SurroundingsDeps, usesOwnContext } from "./surroundings.ts";
import type { Tabs } from "./tabs.ts";

/** A conversation's browsing, with what its manager needs. */
export type KeptBrowsing = Browsing & {
  /** When it was last used, by `performance.now()`; undefined while it is in use. */
  idleSince(): number | undefined;
  /** When it was last used, whether or not it is in use. */
  usedAt(): number;
  /** Cookies and storage of its context. */
  storage(): Promise<StorageState>;
  /** From now on every action is refused with this sentence. */
  lose(sentence: string): void;
  close(): Promise<void>;
};

const closeTabMs = 2_000;
const tabMs = 10_000;
const contextMs = 30_000;
const replaceMs = 8_000;

function closed(id: number | undefined): string {
  return id === undefined ? "The tab is closed." : `Tab ${id} was closed.`;
}

/** Whether there is a tab, which may still be opening in place of the last one. */
function hasTab(tabs: Tabs): Promise<boolean | undefined> {
  return within(
    replaceMs,
    tabs.ready().then(() => true),
  );
}

/** What looks at a browsing's requests, also in the surroundings that replace its first. */
function createLookouts(present: () => Surroundings) {
  const placed: ((on: Surroundings) => Promise<unknown>)[] = [];
  const place = async (lookout: (on: Surroundings) => Promise<unknown>) => {
    placed.push(lookout);
    await lookout(present());
  };
  return {
    route: (...args: Parameters<Browsing["route"]>) => place(({ routes }) => routes.route(...args)),
    guard: (judge: JudgeHop) => place(({ hops }) => hops.add(judge)),
    follows: (request: Request) => present().hops.follows(request),
    async placeAll(on: Surroundings) {
      for (const one of placed) await one(on);
    },
  };
}

/**
 * Opens a conversation's browsing with one empty tab. Rejects with `unavailable` when the browser
 * does not respond.
 */
export async function openBrowsing(deps: SurroundingsDeps): Promise<KeptBrowsing> {
  let now = await answered(contextMs, openSurroundings(deps));
  let lost: string | undefined;
  let acts = 0;
  let usedAt = performance.now();
  const present = (): Surroundings => {
    if (lost !== undefined) throw new AppError("unavailable", lost);
    usedAt = performance.now();
    return now;
  };
  const lookouts = createLookouts(present);
  /**
   * Replaces a page that does not recover with an empty tab, or the whole context where that page
   * cannot even be closed.
   */
  const replace = async (page: Page): Promise<string> => {
    const { tabs } = now;
    const id = tabs.of(page)?.id;
    const closing = id === undefined ? undefined : tabs.close(id).then(() => true);
    const isClosed = closing !== undefined && (await within(closeTabMs, closing));
    if (isClosed || (page.isClosed() && (await hasTab(tabs)))) return closed(id);
    const former = now;
    try {
      const next = await answered(replaceMs, openSurroundings(deps));
      await lookouts.placeAll(next);
      now = next;
    } catch {
      // The browser no longer responds at all, so it is ended, for all conversations.
      deps.running.kill();
      return "Nor does the browser, which is ended.";
    }
    void former.close();
    return "Everything was closed and begun anew, without the former tabs and cookies.";
  };
  const act = async <T>(run: (page: Page) => Promise<T>, options: ActOptions): Promise<T | undefined> => {
    const { tabs, dialogs, guard, downloads, patience } = present();
    acts++;
    try {
      await abortable(tabs.ready(), options.signal);
      const { page } = tabs.active();
      return await actOn(page, run, { ...options, dialogs, guard, downloads, patience, replace, lost: () => lost });
    } finally {
      acts--;
      usedAt = performance.now();
    }
  };
  return {
    get context() {
      return present().context;
    },
    tabs: () => present().tabs.all(),
    active: () => present().tabs.active(),
    activate: async (id) => await answered(tabMs, present().tabs.activate(id)),
    openTab: async () => await answered(tabMs, present().tabs.open()),
    closeTab: async (id) => await answered(tabMs, present().tabs.close(id)),
    act,
    dialog: () => present().dialogs.open(present().tabs.active().page),
    isAsking: () => present().patience.isAsking(present().tabs.active().page),
    loading: () => present().patience.loading(present().tabs.active().page),
    resends: async (how) => await answered(tabMs, present().sent.anew(present().tabs.active().page, how)),
    notices: () => deps.notices.take(),
    tell: deps.notices.add,
    // Any site may know the browser's user: a log-in is not in cookies alone.
    hasKept: (url) => usesOwnContext(deps) || deps.profile?.hasSomethingOf(url) === true,
    route: lookouts.route,
    guard: lookouts.guard,
    follows: lookouts.follows,
    usedAt: () => usedAt,
    storage: async () => (await now.context.storageState({ indexedDB: true })) as StorageState,
    idleSince: () => (acts > 0 ? undefined : usedAt),
    lose(sentence) {
      lost ??= sentence;
    },
    async close() {
      lost ??= "The browser was closed.";
      await now.close();
    },
  };
}
