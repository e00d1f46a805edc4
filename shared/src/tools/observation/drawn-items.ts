import type { DrawnElement } from "./in-page/find-drawn-elements.ts";
import type { Item } from "./item.ts";

/**
 * What is drawn without words: at most one item that holds what no outline has, and, by number, how
 * the outlined elements look.
 */
export type Drawn = { readonly items: readonly Item[]; readonly looks: ReadonlyMap<number, string> };

/** What holds them. */
export const drawnRole = "icons and shapes without a label";

/** Words that more shapes than this have beside them tell none from the others. */
const maxBeside = 8;

/** What is drawn in the window without words that an outline would have: icons, handles, shapes. */
export function drawnItems(
  all: readonly DrawnElement[],
  refOf: (element: { readonly number: number; readonly role: string }) => string,
): Drawn {
  const looks = new Map(all.filter(({ outlined }) => outlined).map((one) => [one.number, lookText(one)]));
  const found = all.filter(({ outlined }) => !outlined);
  const words = found.map(({ beside }) => beside);
  const children = found.map(({ number, what, colour, x, y, width, height, beside, clipped, behind }, index): Item => {
    const isTold = words.indexOf(beside) < index && words.filter((one) => one === beside).length > maxBeside;
    const near = beside === "" || isTold ? "" : `, beside "${beside}"`;
    const at = clipped ? "scrolled out of view" : `at ${x},${y}`;
    const text = `${width}×${height} px ${at}${tintOf(colour)}${near}`;
    const ref = refOf({ number, role: what });
    const rest = { states: [], ref, acts: true, away: 0, url: undefined, children: [] };
    return { role: what, name: "", text, ...rest, ...(behind === true && { behind }) };
  });
  if (children.length === 0) return { items: [], looks };
  const role = drawnRole;
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
  return { items: [holder], looks };
}

function tintOf(colour: string): string {
  return colour === "" || /^rgba\(.*, 0\)$/.test(colour) ? "" : `, ${colour}`;
}

function lookText({ what, colour, width, height }: DrawnElement): string {
  return `(no label: ${what}, ${width}×${height} px${tintOf(colour)})`;
}
