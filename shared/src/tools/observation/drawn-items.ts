import type { Page } from "playwright";
import { findClipped } from "./in-page/find-clipped.ts";
import { type DrawnElement, findDrawnElements } from "./in-page/find-drawn-elements.ts";
import type { PageMeasure } from "./in-page/measure-page.ts";
import type { Item } from "./item.ts";
import type { SnapshotState } from "./snapshot-state.ts";
import { listOf } from "./snapshot-state.ts";

const mostDrawn = 90;

/**
 * What is drawn without words: at most one item that holds what no outline has, and, by box, how
 * the outlined elements look.
 */
export type Drawn = { readonly items: readonly Item[]; readonly looks: ReadonlyMap<string, string> };

/** What is drawn in the window without words that an outline would have: icons, handles, shapes. */
export async function drawnItems(
  page: Page,
  looks: SnapshotState,
  { tab, measure }: { readonly tab: number; readonly measure: PageMeasure },
): Promise<Drawn> {
  const list = await listOf(page, looks, `${tab} ${measure.origin}`);
  const all = await list.evaluate(findDrawnElements, mostDrawn);
  const found = all.filter(({ outlined }) => !outlined);
  const known = all.filter(({ outlined }) => outlined);
  const described = new Map(known.map((one) => [boxKey(one), lookText(one)]));
  const frame = page.mainFrame();
  const numbers = found.map(({ number }) => number);
  const clipped = new Set(await list.evaluate(findClipped, numbers));
  const children = found.map(({ number, what, colour, x, y, width, height, beside }): Item => {
    const where = { by: "list", list, number } as const;
    const ref = looks.refs.give({ tab, frame, origin: measure.origin, where, role: what, name: "", mark: "" });
    const near = beside === "" ? "" : `, beside "${beside}"`;
    const text = `${width}×${height} px ${clipped.has(number) ? "scrolled out of view" : `at ${x},${y}`}${colour === "" || /^rgba\(.*, 0\)$/.test(colour) ? "" : `, ${colour}`}${near}`;
    return { role: what, name: "", text, states: [], ref, acts: true, away: 0, url: undefined, children: [] };
  });
  if (children.length === 0) return { items: [], looks: described };
  const role = "icons and shapes without a label";
  const holder = {
    role,
    name: "",
    text: "",
    states: [],
    ref: undefined,
    acts: false,
    away: 0,
    url: undefined,
    children,
  };
  return { items: [holder], looks: described };
}

/** A box's middle and size, rounded as a page reports them. */
export function boxKey({ x, y, width, height }: Pick<DrawnElement, "x" | "y" | "width" | "height">): string {
  return [x, y, width, height].map(Math.round).join(" ");
}

function lookText({ what, colour, width, height }: DrawnElement): string {
  const tinted = colour === "" || /^rgba\(.*, 0\)$/.test(colour) ? "" : `, ${colour}`;
  return `(no label: ${what}, ${width}×${height} px${tinted})`;
}
