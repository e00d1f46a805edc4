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
  const marks = alikeMarks(found);
  const single = found.filter((one) => !marks.flat().includes(one));
  const words = single.map(({ beside }) => beside);
  const shapes = single.map(({ number, what, colour, x, y, width, height, beside, clipped, behind }, index): Item => {
    const isTold = words.indexOf(beside) < index && words.filter((one) => one === beside).length > maxBeside;
    const near = beside === "" || isTold ? "" : `, beside "${beside}"`;
    const at = clipped ? "scrolled out of view" : `at ${x},${y}`;
    const text = `${width}×${height} px ${at}${tintOf(colour)}${near}`;
    const ref = refOf({ number, role: what });
    const rest = { states: [], ref, acts: true, away: 0, url: undefined, children: [] };
    return { role: what, name: "", text, ...rest, ...(behind === true && { behind }) };
  });
  const children = [...shapes, ...marks.map((alike) => marksItem(alike, refOf))];
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

const largestMark = 16;
const fewestMarks = 4;

/**
 * Small shapes that do nothing and look the same, such as the dot of each row, if there are many.
 */
function alikeMarks(found: readonly DrawnElement[]): readonly (readonly DrawnElement[])[] {
  const isMark = ({ still, clipped, behind, width, height }: DrawnElement) =>
    still && !clipped && behind !== true && Math.max(width, height) <= largestMark;
  const looks = Map.groupBy(found.filter(isMark), ({ what, colour, width, height }) =>
    [what, colour, width, height].join(" "),
  );
  return [...looks.values()].filter((alike) => alike.length >= fewestMarks);
}

/** Such marks on one line, after all that acts. */
function marksItem(alike: readonly DrawnElement[], refOf: Parameters<typeof drawnItems>[1]): Item {
  const [{ what, colour, width, height } = { what: "", colour: "", width: 0, height: 0 }] = alike;
  const places = alike.map(({ number, x, y }) => `[${refOf({ number, role: what })}] at ${x},${y}`);
  const text = `${width}×${height} px${tintOf(colour)}: ${places.join("; ")}`;
  const rest = { states: [], ref: undefined, acts: false, away: 0, url: undefined, children: [] };
  return { role: `${alike.length} × ${what}`, name: "", text, ...rest };
}

function tintOf(colour: string): string {
  return colour === "" || /^rgba\(.*, 0\)$/.test(colour) ? "" : `, ${colour}`;
}

function lookText({ what, colour, width, height }: DrawnElement): string {
  return `(no label: ${what}, ${width}×${height} px${tintOf(colour)})`;
}
