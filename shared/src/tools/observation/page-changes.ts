import { asData, originOf } from "../page/as-data.ts";
import { linesOf, type OutlineLine } from "./lines.ts";
import { withoutRefs } from "./lines-text.ts";
import type { PageLook } from "./look.ts";
import { type LookLines, titleText } from "./look-text.ts";
import { placedLines, type Reordered, reordered } from "./page-order.ts";
import type { ToldPage } from "./told-page.ts";

/** The tab and the document that a look was at. */
export function documentOf({ tab, measure }: PageLook): string {
  return `${tab.id} ${measure.origin}`;
}

/** Whether a look is at the page that was told, or at what was loaded in its place. */
export function continues(look: PageLook, { document }: ToldPage): boolean {
  return (
    document === documentOf(look) || (look.loadedOver !== undefined && document === `${look.tab.id} ${look.loadedOver}`)
  );
}

/**
 * What differs between a look and what the conversation knows: numbers of lines, lines, and known
 * lines in another order. `known` are the numbers of the lines that the conversation has with it.
 */
export type Difference = {
  readonly fresh: readonly number[];
  readonly gone: readonly string[];
  readonly moved: readonly Reordered[];
  readonly known: ReadonlySet<number>;
};

/** Compares a look, and those of its lines that there is room for, with what was told. */
export function differenceOf(look: PageLook, { lines, shown }: LookLines, base: ToldPage): Difference {
  const isScrolled = look.measure.above !== base.above;
  const key = (text: string) => sameLine(text, isScrolled);
  const known = countOf(base.lines.map(key));
  const textOf = (at: number) => lines[at]?.text ?? "";
  const isKnown = (at: number) => !isCount(textOf(at)) && take(known, key(textOf(at)));
  const seen = [...shown].toSorted((a, b) => a - b).filter((at) => !isCount(textOf(at)));
  const had = new Set(seen.filter(isKnown));
  const fresh = seen.filter((at) => !had.has(at));
  const unseen = lines.keys().filter((at) => !shown.has(at) && isKnown(at));
  const now = countOf(linesOf(look.items, { ...base.detail, collapsed: false }).map(({ text }) => key(text)));
  const gone = base.lines.filter((text) => !isCount(text) && !take(now, key(text)));
  const all = new Set([...seen, ...unseen]);
  return { fresh, gone, moved: reordered(lines, all, base.placed, key), known: all };
}

/**
 * A line without what changes while the element stays the same: which one has the focus, and where
 * things are drawn once the page is scrolled.
 */
const placed = / at -?\d+,-?\d+/;
/** Small marks that look alike: which and where they are is no change. */
const alikeMarks = /^(\d+ × .*): \[e\d+\] at .*$/;

function sameLine(text: string, isScrolled: boolean): string {
  const line = text.replace(" [focused]", "").replace(alikeMarks, "$1");
  return isScrolled ? line.replaceAll(/ at -?\d+,-?\d+/g, "").replace(/^\d+ × /, "") : line;
}

/** Whether a line only counts what is left out. */
function isCount(text: string): boolean {
  return text.startsWith("… ");
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function take(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count > 0) counts.set(text, count - 1);
  return count > 0;
}

/** What the conversation knows with this look: all that is shown, or its difference from `base`. */
export function toldWith(
  look: PageLook,
  { lines, shown, detail }: LookLines,
  told: Pick<ToldPage, "header" | "notices" | "picture">,
  change?: { readonly base: ToldPage; readonly difference: Difference },
): ToldPage {
  const at = change === undefined ? [...shown] : change.difference.fresh;
  const gone = countOf(change?.difference.gone ?? []);
  // Where shapes are drawn once the page is scrolled is not told, and no change later.
  const now = new Map(lines.map(({ text }) => [sameLine(text, true), text]));
  const kept = (change?.base.lines ?? [])
    .filter((text) => !take(gone, text))
    .map((text) => (placed.test(text) ? (now.get(sameLine(text, true)) ?? text) : text));
  return {
    ...told,
    document: documentOf(look),
    title: look.title,
    lines: [...kept, ...at.flatMap((index) => lines[index]?.text ?? [])],
    placed: placedLines(lines, change?.difference.known ?? at),
    detail,
    above: look.measure.above,
    focus: focusIn(lines),
  };
}

/**
 * A difference as text: new lines with a plus, changed ones with a tilde, what was there before and
 * is in a new part without a sign, and what is gone. Empty when nothing differs that a reader would
 * miss.
 */
export function changesText(
  look: PageLook,
  { lines }: LookLines,
  {
    base,
    difference: { fresh, gone, moved },
    header,
  }: {
    readonly base: ToldPage;
    readonly difference: Difference;
    readonly header: readonly string[];
  },
): string {
  const before = new Map(gone.flatMap((text) => (refIn(text) === undefined ? [] : [[refIn(text), text] as const])));
  const changed = new Set(fresh.map((at) => before.get(refIn(lines[at]?.text ?? ""))));
  const again = new Set(fresh.map((at) => withoutRefs(lines[at]?.text ?? "")));
  const left = outermost(
    gone.filter((text) => !changed.has(text) && !again.has(withoutRefs(text))),
    base,
  );
  const isFresh = new Set(fresh);
  const isOld = (at: number) => !isFresh.has(at);
  // A single one has no order: it stands in its new part instead.
  const entered = moved.filter(({ parent, at }) => isFresh.has(parent) && at.filter(isOld).length === 1);
  const around = [...entered.flatMap(({ at }) => at), ...namesOfAlike(lines, fresh)];
  const told = [...isFresh.union(new Set(around))].toSorted((a, b) => a - b);
  const body = [
    ...(look.title === base.title ? [] : [titleText(look).trimEnd()]),
    ...linesInPlace(lines, told, (text, at) =>
      isFresh.has(at) ? changedLine(text, before.get(refIn(text))) : `  ${text}`,
    ),
    ...moved.filter((one) => !entered.includes(one)).map((one) => orderText(lines, one)),
    ...(left.length === 0 ? [] : [`gone: ${goneText(left)}`]),
  ].filter((line) => line !== "");
  const isScrolled = look.measure.above !== base.above;
  const isAnew = base.document !== documentOf(look);
  const above = [
    ...header.filter((line) => !base.header.includes(line) && (isScrolled || !line.startsWith("Window: "))),
    ...(isAnew ? ["Loaded anew: what is not told is as before."] : []),
  ];
  if (body.length > 0) return [...above, asData(originOf(look.url), body.join("\n"))].join("\n");
  const focus = focusIn(lines);
  const focused = focus === undefined || focus === base.focus ? [] : [`The focus is on ${focus}.`];
  return [...above, ...focused].join("\n");
}

/**
 * Of lines that are gone, those that were in none of the others: a closed dialog, not its buttons.
 */
function outermost(gone: readonly string[], { placed }: ToldPage): readonly string[] {
  const refs = new Set(gone.map(refIn));
  const parents = new Map(placed.map(({ text, parent }) => [text, parent]));
  return gone.filter((text) => !refs.has(parents.get(text) ?? ""));
}

const nameWithin = 8;

/**
 * Of elements that others are like, the lines known to the reader that tell whose they are: the
 * nearest link, heading or the like before each.
 */
function namesOfAlike(lines: readonly OutlineLine[], fresh: readonly number[]): readonly number[] {
  const counts = countOf(lines.map(({ text }) => withoutRefs(text)));
  const isAlone = ({ text }: OutlineLine) => counts.get(withoutRefs(text)) === 1;
  const found = fresh.flatMap((at) => {
    const line = lines[at];
    if (line?.acts !== true || isAlone(line)) return [];
    const before = lines.slice(Math.max(0, at - nameWithin), at);
    const name = before.findLastIndex((one) => one.parent === line.parent && one.rank === 0 && isAlone(one));
    return name === -1 ? [] : [{ name: at - before.length + name, text: withoutRefs(line.text) }];
  });
  // What stands before two of them tells neither apart.
  const alike = countOf(found.map(({ name, text }) => `${name} ${text}`));
  return found.flatMap(({ name, text }) => (alike.get(`${name} ${text}`) === 1 ? [name] : []));
}

const states = ["disabled", "pressed", "checked", "selected", "expanded"];

/** A line that is new, or what became of the one that had its ref. */
function changedLine(text: string, before: string | undefined): string {
  if (before === undefined) return `+ ${text}`;
  const left = states.filter((state) => before.includes(` [${state}]`) && !text.includes(` [${state}`));
  const isEnabled = left[0] === "disabled" ? ["enabled now"] : [];
  const others = left.filter((state) => state !== "disabled").join(", ");
  const said = [...isEnabled, ...(others === "" ? [] : [`no longer ${others}`])].join(", ");
  return `~ ${text}${said === "" ? "" : ` (${said})`}`;
}

/** The lines, each below the line it belongs to, which is named if it is not among them. */
function linesInPlace(
  lines: readonly OutlineLine[],
  at: readonly number[],
  written: (text: string, at: number) => string,
): string[] {
  const depths = new Map<number, number>();
  let place = -1;
  return at.flatMap((index) => {
    const line = lines[index];
    if (line === undefined) return [];
    const { parent, text } = line;
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(index, depth);
    const told = `${" ".repeat(depth)}${written(text, index)}`;
    if (parent === place || depth > 0 || (parent < 0 && place < 0)) return [told];
    place = parent;
    return [`in ${parent < 0 ? "the page" : shortened(lines[parent]?.text ?? "")}:`, told];
  });
}

const maxOrdered = 40;

/** The entries of a part in their new order; of very many, those at both ends. */
function orderText(lines: readonly OutlineLine[], { parent, at }: Reordered): string {
  const named = at.map((index) => shortened(lines[index]?.text ?? ""));
  const half = maxOrdered / 2;
  const more = named.length - maxOrdered;
  const told = more > 0 ? [...named.slice(0, half), `… ${more} more`, ...named.slice(-half)] : named;
  return `order now in ${parent < 0 ? "the page" : shortened(lines[parent]?.text ?? "")}: ${told.join("; ")}`;
}

const maxGone = 6;

function goneText(texts: readonly string[]): string {
  const more = texts.length - maxGone;
  const named = texts.slice(0, maxGone).map(shortened).join("; ");
  return more > 0 ? `${named}; and ${more} more` : named;
}

const shortLine = 60;

function shortened(text: string): string {
  return text.length <= shortLine ? text : `${text.slice(0, shortLine).toWellFormed()}…`;
}

function refIn(text: string): string | undefined {
  return /\[(e\d+)\]/.exec(text)?.[1];
}

function focusIn(lines: readonly OutlineLine[]): string | undefined {
  return refIn(lines.find(({ text }) => text.includes(" [focused]"))?.text.split(" [focused]")[1] ?? "");
}
