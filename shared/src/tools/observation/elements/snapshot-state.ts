import type { Frame, Page } from "playwright";
import type { Browsing, OpenDialog } from "../../../machine/browser/browser.ts";
import type { AriaNode } from "../aria-node.ts";
import type { ToldPage } from "../told-page.ts";
import { createRefs, type Refs } from "./refs.ts";

/** A document's outline at the time of a look. */
export type SeenOutline = {
  readonly origin: number;
  readonly url: string;
  readonly nodes: readonly (string | AriaNode)[];
};

/** What is remembered of one conversation's looks at its pages. */
export type SnapshotState = {
  readonly refs: Refs;
  /** What the newest observations told, by their marks; the conversation may have any of them. */
  readonly told: Map<string, ToldPage>;
  /** What a result told of the whole page since the newest observation. */
  snapshot: ToldPage | undefined;
  /** What happened without an act and the conversation does not have yet. */
  untold: readonly string[];
  /** The dialog that a result has told. */
  toldDialog: OpenDialog | undefined;
  /** Whether an act followed the newest look, so that the page may still be about to change. */
  restless: boolean;
  /** What still said at an address that it is loading, when it had been waited for. */
  lasting: { readonly url: string; readonly sign: string } | undefined;
  /** Whether an act since the newest look has changed what is on the page. */
  changed: boolean;
  /** What pages said between the acts since the newest observation, each at its address. */
  between: readonly { readonly place: string; readonly texts: readonly string[] }[];
  /** The newest outline of each document. */
  readonly outlines: WeakMap<Frame, SeenOutline>;
  /** The outline of each document that the model was told of last. */
  readonly toldOutlines: WeakMap<Frame, SeenOutline>;
  /** A page where this system answered instead of the site, and its address then. */
  refused: { readonly page: Page; readonly url: string } | undefined;
  /** CSS pixels for each pixel of the newest screenshot. */
  scale: { readonly page: Page; readonly factor: number } | undefined;
};

/**
 * The snapshot state of every conversation's browsing, forgotten with it. Tools and observations
 * must share one.
 */
export interface SnapshotStates {
  of(browsing: Browsing): SnapshotState;
}

/** Creates the states; each is kept for as long as its browsing. */
export function createSnapshotStates(): SnapshotStates {
  const books = new WeakMap<Browsing, SnapshotState>();
  return {
    of(browsing) {
      const known = books.get(browsing);
      if (known !== undefined) return known;
      const looks: SnapshotState = {
        refs: createRefs(),
        told: new Map(),
        snapshot: undefined,
        untold: [],
        outlines: new WeakMap(),
        toldOutlines: new WeakMap(),
        toldDialog: undefined,
        restless: false,
        lasting: undefined,
        changed: false,
        between: [],
        refused: undefined,
        scale: undefined,
      };
      books.set(browsing, looks);
      return looks;
    },
  };
}

const maxUntold = 20;

/** What happened without an act and the conversation does not have yet. */
export function untoldNotices(browsing: Browsing, looks: SnapshotState): readonly string[] {
  looks.untold = [...looks.untold, ...browsing.notices()].slice(-maxUntold);
  return looks.untold;
}

/**
 * The same for a tool's result, with which the conversation gets them. What the newest observation
 * told is not new: the call answers it.
 */
export function tellNotices(browsing: Browsing, looks: SnapshotState): readonly string[] {
  const newest = [...looks.told.values()].at(-1);
  looks.untold = looks.untold.filter((notice) => newest?.notices.includes(notice) !== true);
  const notices = untoldNotices(browsing, looks);
  looks.untold = [];
  return notices;
}
