import type { Page } from "playwright";
import { findClipped } from "../in-page/find-clipped.ts";
import { findDrawnElements } from "../in-page/find-drawn-elements.ts";
import type { PageMeasure } from "../in-page/measure-page.ts";
import type { Looks } from "../looks.ts";
import { listOf } from "./element-list.ts";
import type { Item } from "./item.ts";

const mostDrawn = 60;

/** What is drawn in the window without a word that an outline would have: icons, handles, shapes; one item that holds them, or none. */
export async function drawnItems(
  page: Page,
  looks: Looks,
  { tab, measure }: { readonly tab: number; readonly measure: PageMeasure },
): Promise<Item[]> {
  const list = await listOf(page, looks, `${tab} ${measure.origin}`);
  const found = await list.evaluate(findDrawnElements, mostDrawn);
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
  if (children.length === 0) return [];
  const role = "icons and shapes without a label";
  return [{ role, name: "", text: "", states: [], ref: undefined, acts: false, away: 0, url: undefined, children }];
}
