import type { Item } from "./item.ts";

/** A line of a page's outline. */
export type Line = {
  readonly depth: number;
  readonly text: string;
  /** How far outside the window, in pixels. */
  readonly away: number;
  /** What a reader needs first: 0 for what can be acted on and headings, 1 for the rest. */
  readonly rank: 0 | 1;
  /** The line it is below, by its number; -1 at the top. */
  readonly parent: number;
};

/** How much of each element is written. */
export type Detail = {
  /** Refs also of what is not there to be acted on, and the addresses of links. */
  readonly allRefs: boolean;
  /** Whether rows and the like are shown once they are many and out of view. */
  readonly folds: boolean;
};

const longestName = 100;
const longestText = 400;
const longestRow = 240;

/** The lines of an outline, top to bottom. */
export function linesOf(items: readonly Item[], detail: Detail): readonly Line[] {
  const lines: Line[] = [];
  const add = (item: Item, depth: number, parent: number) => {
    const row = oneRow(item, detail);
    const text = row ?? headOf(item, detail);
    const rank = item.acts || item.role === "heading" || item.role === "dialog" || item.role === "alert" ? 0 : 1;
    lines.push({ depth, text, away: item.away, rank: row !== undefined && holdsActing(item) ? 0 : rank, parent });
    if (row === undefined) addAll(item.children, depth + 1, lines.length - 1, item.ref);
  };
  const addAll = (children: readonly Item[], depth: number, parent: number, within: string | undefined) => {
    const shown = detail.folds ? foldedRuns(children) : children.map((item) => ({ item, more: 0 }));
    for (const { item, more } of shown) {
      if (item !== undefined) add(item, depth, parent);
      if (more === 0) continue;
      const how = within === undefined ? "browser_snapshot{full: true}" : `browser_snapshot{expand: "${within}"}`;
      const text = `… ${more} more like this (${how} shows them)`;
      lines.push({ depth, text, away: 0, rank: 0, parent });
    }
  };
  addAll(items, 0, -1, undefined);
  return lines;
}

const foldedAbove = 12;
const shownBeyond = 3;

/** Of many siblings of one role, those in view and the next few; the number of the others in their place. */
function foldedRuns(items: readonly Item[]): { item?: Item; more: number }[] {
  const shown: { item?: Item; more: number }[] = [];
  for (let start = 0; start < items.length; ) {
    let end = start + 1;
    while (end < items.length && items[end]?.role === items[start]?.role) end += 1;
    const run = items.slice(start, end);
    start = end;
    const beyond = run.filter(({ away }) => away > 0).toSorted((a, b) => a.away - b.away);
    const kept = new Set(run.length < foldedAbove ? beyond : beyond.slice(0, shownBeyond));
    let more = 0;
    for (const item of run) {
      if (item.away > 0 && !kept.has(item)) {
        more += 1;
        continue;
      }
      if (more > 0) shown.push({ more });
      more = 0;
      shown.push({ item, more: 0 });
    }
    if (more > 0) shown.push({ more });
  }
  return shown;
}

const rows = new Set([
  "row",
  "listitem",
  "clickable",
  "group",
  "button",
  "link",
  "option",
  "treeitem",
  "menuitem",
  "tab",
]);

/** A short row with what is in it on one line. */
function oneRow(item: Item, detail: Detail): string | undefined {
  if (item.children.length === 0 || item.children.length > 12 || !rows.has(item.role)) return undefined;
  if (item.children.some(({ children, role }) => children.length > 0 && role !== "combobox")) return undefined;
  const text = `${headOf(item, detail)}: ${item.children.map((child) => headOf(child, detail)).join(" | ")}`;
  return text.length > longestRow ? undefined : text;
}

function holdsActing(item: Item): boolean {
  return item.children.some(({ acts }) => acts);
}

function headOf(item: Item, detail: Detail): string {
  const ref = item.ref !== undefined && (item.acts || detail.allRefs || item.role !== "text") ? ` [${item.ref}]` : "";
  if (item.role === "text") return `${cut(item.text, longestText)}${detail.allRefs ? ref : ""}`;
  const name = item.name === "" ? "" : ` "${cut(item.name, item.role === "heading" ? longestText : longestName)}"`;
  const states = item.states.map((state) => ` [${state}]`).join("");
  const plain =
    !item.acts && !detail.allRefs && (item.role === "heading" || item.role === "img" || item.role === "listitem");
  const url = detail.allRefs && item.url !== undefined ? ` → ${item.url.slice(0, 120)}` : "";
  const text = item.text === "" ? "" : `: ${cut(item.text, longestText)}`;
  return `${item.role}${name}${states}${plain ? "" : ref}${url}${text}`;
}

function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ");
  if (line.length <= length) return line;
  const kept = line.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}… (+${line.length - kept.length} characters)`;
}
