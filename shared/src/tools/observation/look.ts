import { AppError } from "../../core/errors.ts";
import type { ActOptions, Browsing, Tab } from "../../machine/browser/browser.ts";
import { stillLoading } from "../../machine/browser/patience.ts";
import { allDocuments, type Document, readDocuments } from "./documents.ts";
import { drawnItems } from "./drawn-items.ts";
import { followLoaded } from "./elements/follow-loaded.ts";
import { followRedrawn } from "./elements/follow-redrawn.ts";
import type { SeenElement } from "./elements/refs.ts";
import type { SnapshotState } from "./elements/snapshot-state.ts";
import { createHider } from "./hider.ts";
import type { PageMeasure } from "./in-page/measure-page.ts";
import { type QuietPage, waitForQuiet } from "./in-page/settling/wait-for-quiet.ts";
import type { Item } from "./item.ts";
import { type Setting, toItems } from "./to-items.ts";
import { untilShown } from "./until-shown.ts";

/** What a look at the active page found. */
export type PageLook = {
  readonly tab: Tab;
  readonly url: string;
  readonly title: string;
  readonly measure: PageMeasure;
  readonly items: readonly Item[];
  /** Which of the tab's documents this one was loaded in place of, when it was loaded anew. */
  readonly loadedOver: number | undefined;
  /** Whether the page has so many elements that those far from the window were left out. */
  readonly crowded: boolean;
};

/**
 * Looks at the active page; what has the text to `find` is seen however large the page is. With
 * `tellsChanges`, refs move to a page that was loaded anew, too. Undefined when a dialog blocks it.
 * Rejects as `Browsing.act` does.
 */
export async function lookAt(
  browsing: Browsing,
  looks: SnapshotState,
  {
    find,
    tellsChanges = false,
    isGlance = false,
    ...options
  }: ActOptions & {
    readonly find?: string | undefined;
    readonly tellsChanges?: boolean;
    /** Whether no model is told of it, so that the newest look stays the one before. */
    readonly isGlance?: boolean;
  },
): Promise<PageLook | undefined> {
  // An act would dismiss the dialog.
  if (browsing.dialog() !== undefined) return undefined;
  const loading = browsing.loading();
  if (loading !== undefined) throw stillLoading(loading);
  const tab = browsing.active();
  return await browsing.act(async (page) => {
    const [document, title] = await Promise.all([
      readDocuments(page.mainFrame(), { find, timeoutMs: options.timeoutMs }),
      page.title(),
    ]);
    const { frame, measure } = document;
    const loadedOver = tellsChanges ? followLoaded(looks, document) : undefined;
    for (const one of allDocuments(document)) followRedrawn(looks, one, { looked: !isGlance, told: tellsChanges });
    // What nobody is told of gets no ref, so that it may still be what had one before.
    const give = (element: Omit<SeenElement, "tab">) =>
      isGlance ? "e0" : looks.refs.give({ ...element, tab: tab.id });
    const drawn = drawnItems(document.drawn, (element) =>
      give({ ...element, frame, origin: measure.origin, name: "", mark: "" }),
    );
    const setting = settingOf(document, { give, looks: drawn.looks, window: measure, left: 0, top: 0 });
    const items = [...toItems(document.nodes, setting), ...drawn.items];
    return {
      tab,
      url: page.url(),
      title,
      measure,
      items,
      loadedOver,
      crowded: document.crowded,
    };
  }, options);
}

/** Where a document is, and what it shares with those around it. */
type DocumentPlace = {
  give(element: Omit<SeenElement, "tab">): string;
  readonly looks: ReadonlyMap<number, string>;
  readonly window: PageMeasure;
  readonly left: number;
  readonly top: number;
};

function settingOf({ frame, measure, unseen, inner }: Document, place: DocumentPlace): Setting {
  const { give, looks, window, left, top } = place;
  const { origin, passwords } = measure;
  return {
    hider: createHider(unseen, passwords),
    width: window.width,
    height: window.height,
    left,
    top,
    lookOf: (number) => looks.get(number),
    refOf: (element) => give({ ...element, frame, origin }),
    within({ ref, box: [x, y] }) {
      const document = ref === undefined ? undefined : inner.get(ref);
      if (document === undefined) return undefined;
      const setting = settingOf(document, { ...place, looks: new Map(), left: left + x, top: top + y });
      return { nodes: document.nodes, setting };
    },
  };
}

/** The error of an act that a dialog blocks. */
export function heldUp(browsing: Browsing): AppError {
  const dialog = browsing.dialog();
  const what = dialog === undefined ? "A dialog" : `The ${dialog.kind} dialog "${dialog.message.slice(0, 200)}"`;
  return new AppError("conflict", `${what} holds the page up. Answer it with browser_handle_dialog first.`);
}

const quiet: QuietPage = { quietMs: 80, maxMs: 1_000 };
const loadMs = 5_000;
const pollMs = 100;
/** What the scripts of a page asked for is waited for as long, so that a list is seen loaded. */
const answerMs = 2_000;
/** What a page shows to be loading is waited for as long, once. */
const shownMs = 4_000;

/** Waits for the page that another one is about to become, for some seconds at most. */
export async function untilLoaded(browsing: Browsing, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + loadMs; browsing.loading() && performance.now() < until; ) {
    signal.throwIfAborted();
    await Bun.sleep(pollMs);
  }
}

/**
 * After an act on a page: waits until the page has loaded, stopped changing and shows no more that
 * it is loading, for some seconds at most. Never fails for a page that keeps changing.
 */
export async function settle(browsing: Browsing, looks: SnapshotState, signal: AbortSignal): Promise<void> {
  if (!looks.restless || browsing.dialog() !== undefined) return;
  looks.restless = false;
  await untilLoaded(browsing, signal);
  // Nothing can be asked of a page that is about to become another.
  looks.restless = browsing.loading() !== undefined;
  if (looks.restless) return;
  await browsing.act(
    async (page) => {
      await page.waitForLoadState("domcontentloaded", { timeout: loadMs }).catch(() => undefined);
      await page.evaluate(waitForQuiet, quiet).catch(() => undefined);
      if (await untilAnswered(browsing, signal)) await page.evaluate(waitForQuiet, quiet).catch(() => undefined);
      const { lasting } = looks;
      const known = lasting?.url === page.url() ? lasting.sign : "";
      const sign = await untilShown(page, { signal, maxMs: shownMs, lasting: known });
      looks.lasting = sign === "" ? undefined : { url: page.url(), sign };
    },
    { signal, timeoutMs: 3 * loadMs },
  );
}

/** Whether it was waited for what scripts of the page had just asked for. */
async function untilAnswered(browsing: Browsing, signal: AbortSignal): Promise<boolean> {
  const isWaiting = browsing.isAsking();
  for (const until = performance.now() + answerMs; browsing.isAsking() && performance.now() < until; ) {
    signal.throwIfAborted();
    await Bun.sleep(pollMs / 4);
  }
  return isWaiting;
}
