import { AppError } from "../../core/errors.ts";
import type { ActOptions, Browsing, Tab } from "../../machine/browser/browser.ts";
import { outlinePage } from "./aria-node.ts";
import { crowdedItems } from "./crowded-page.ts";
import { type Document, readFrames } from "./documents.ts";
import { boxKey, type Drawn, drawnItems } from "./drawn-items.ts";
import { followRedrawn } from "./follow-redrawn.ts";
import { fieldFormats, findFields } from "./in-page/find-fields.ts";
import { measurePage, type PageMeasure } from "./in-page/measure-page.ts";
import { type QuietPage, waitForQuiet } from "./in-page/wait-for-quiet.ts";
import type { Item } from "./item.ts";
import type { SnapshotState } from "./snapshot-state.ts";
import { type Setting, toItems } from "./to-items.ts";
import { createHider, unseenTextOf } from "./unseen-text.ts";

/** What a look at the active page found. */
export type PageLook = {
  readonly tab: Tab;
  readonly url: string;
  readonly title: string;
  readonly measure: PageMeasure;
  readonly items: readonly Item[];
  /** How many texts were left out because no person could see them. */
  readonly unseen: number;
  /**
   * Whether the page has too many elements to be outlined in full; the items are then those in and
   * near the window.
   */
  readonly crowded: boolean;
};

/**
 * A page with more elements than this is not outlined in full: the time needed grows faster than
 * their number.
 */
const mostElements = 10_000;

/** Looks at the active page. Undefined when a dialog blocks it. Rejects as `Browsing.act` does. */
export async function lookAt(
  browsing: Browsing,
  looks: SnapshotState,
  options: ActOptions,
): Promise<PageLook | undefined> {
  // An act would dismiss the dialog.
  if (browsing.dialog() !== undefined) return undefined;
  const tab = browsing.active();
  return await browsing.act(async (page) => {
    const [measure, title] = await Promise.all([page.evaluate(measurePage), page.title()]);
    const seen = { tab, url: page.url(), title, measure };
    if (measure.elements > mostElements) {
      const { items, unseen } = await crowdedItems(page, looks, { tab: tab.id, measure });
      return { ...seen, items, unseen, crowded: true };
    }
    const [nodes, unseen, fields, drawn] = await Promise.all([
      outlinePage(page, options.timeoutMs),
      unseenTextOf(page),
      page.evaluate(findFields, fieldFormats),
      drawnItems(page, looks, { tab: tab.id, measure }),
    ]);
    const frames = await readFrames(page, nodes);
    followRedrawn(looks, nodes, { main: { frame: page.mainFrame(), measure }, frames, looked: true });
    const setting = settingOf({
      tab,
      looks,
      frames,
      frame: page.mainFrame(),
      measure,
      unseen,
      fields,
      left: 0,
      top: 0,
      of: measure,
      drawn: drawn.looks,
    });
    return { ...seen, items: [...toItems(nodes, setting), ...drawn.items], unseen: unseen.length, crowded: false };
  }, options);
}

type PageDocument = Document & {
  readonly tab: Tab;
  readonly looks: SnapshotState;
  readonly frames: ReadonlyMap<string, Document>;
  readonly left: number;
  readonly top: number;
  /** The window's measure. */
  readonly of: PageMeasure;
  readonly drawn: Drawn["looks"];
};

function settingOf(place: PageDocument): Setting {
  const { tab, looks, frame, measure, unseen, left, top, of } = place;
  const fields = new Map(place.fields.map((field) => [field.box, field]));
  return {
    hider: createHider(unseen, measure.passwords),
    width: of.width,
    height: of.height,
    left,
    top,
    fieldIn: ({ x, y, width, height }) => fields.get(`${x} ${y} ${width} ${height}`),
    lookOf(box) {
      if (box === undefined || frame !== frame.page().mainFrame()) return undefined;
      const { x, y, width, height } = box;
      return place.drawn.get(boxKey({ x: x + width / 2, y: y + height / 2, width, height }));
    },
    refOf: ({ ref, ...element }) =>
      looks.refs.give({ ...element, tab: tab.id, frame, origin: measure.origin, where: { by: "outline", ref } }),
    within({ ref, box }) {
      const inner = ref === undefined ? undefined : place.frames.get(ref);
      if (inner === undefined) return undefined;
      return settingOf({ ...place, ...inner, left: left + (box?.x ?? 0), top: top + (box?.y ?? 0) });
    },
  };
}

/** The error of an act that a dialog blocks. */
export function heldUp(browsing: Browsing): AppError {
  const dialog = browsing.dialog();
  const what = dialog === undefined ? "A dialog" : `The ${dialog.kind} dialog "${dialog.message.slice(0, 200)}"`;
  return new AppError("conflict", `${what} holds the page up. Answer it with browser_handle_dialog first.`);
}

const quiet: QuietPage = { quietMs: 80, mostMs: 1_000 };
const loadMs = 5_000;

/**
 * After an act on a page: waits until the page has loaded and stopped changing, for some seconds at
 * most. Never fails for a page that keeps changing.
 */
export async function settle(browsing: Browsing, looks: SnapshotState, signal: AbortSignal): Promise<void> {
  if (!looks.restless || browsing.dialog() !== undefined) return;
  looks.restless = false;
  await browsing.act(
    async (page) => {
      await page.waitForLoadState("domcontentloaded", { timeout: loadMs }).catch(() => undefined);
      await page.evaluate(waitForQuiet, quiet).catch(() => undefined);
    },
    { signal, timeoutMs: 2 * loadMs },
  );
}
