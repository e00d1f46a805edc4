import type { Item } from "./item.ts";

/** A line of a page's outline. */
export type Line = {
  readonly depth: number;
  readonly text: string;
  /** How far outside the window, in pixels. */
  readonly away: number;
  /** How soon a reader needs it: 0 for actionable elements and headings, 1 for the rest. */
  readonly rank: 0 | 1;
  /** The number of its parent line; -1 at the top. */
  readonly parent: number;
};

/** How much of each element is written. */
export type Detail = {
  /** Also writes the refs of elements that are not actionable and hold nothing that is. */
  readonly allRefs: boolean;
  /** Also writes the addresses of links. */
  readonly urls?: boolean;
  /** Whether many similar rows out of view are collapsed. */
  readonly collapsed: boolean;
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
    if (row === undefined && !isDropdown(item)) addAll(item.children, depth + 1, lines.length - 1, item.ref);
  };
  const addAll = (children: readonly Item[], depth: number, parent: number, within: string | undefined) => {
    const shown = detail.collapsed ? collapsedRuns(children) : children.map((item) => ({ item, more: 0 }));
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

const collapsedAbove = 12;
const shownBeyond = 3;

/**
 * Of many siblings of one role, those in view and the next few; in place of the others, their
 * number.
 */
function collapsedRuns(items: readonly Item[]): { item?: Item; more: number }[] {
  const shown: { item?: Item; more: number }[] = [];
  for (let start = 0; start < items.length; ) {
    let end = start + 1;
    while (end < items.length && items[end]?.role === items[start]?.role) end += 1;
    const run = items.slice(start, end);
    start = end;
    const beyond = run.filter(({ away }) => away > 0).toSorted((a, b) => a.away - b.away);
    const kept = new Set(run.length < collapsedAbove ? beyond : beyond.slice(0, shownBeyond));
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

/** A short row and its content on one line. */
function oneRow(item: Item, detail: Detail): string | undefined {
  if (item.children.length === 0 || item.children.length > 12 || !rows.has(item.role)) return undefined;
  if (item.children.some(({ children, role }) => children.length > 0 && role !== "combobox")) return undefined;
  const inside = item.children.map((child) => headOf(child, detail, true)).join(" | ");
  const text = `${headOf(item, detail, true)}: ${inside}`;
  return text.length > longestRow ? undefined : text;
}

function holdsActing(item: Item): boolean {
  return item.children.some(({ acts }) => acts);
}

function headOf(item: Item, detail: Detail, inRow = false): string {
  const { role, ref } = item;
  const shown = ref !== undefined && (item.acts || (detail.allRefs && !holdsActing(item)) || (!inRow && isPart(item)));
  const mark = shown ? ` [${ref}]` : "";
  if (role === "text") return `${cut(item.text, longestText)}${mark}`;
  const name = item.name === "" ? "" : ` "${cut(item.name, role === "heading" ? longestText : longestName)}"`;
  const states = item.states.map((state) => ` [${state}]`).join("");
  const url = detail.urls === true && item.url !== undefined ? ` → ${item.url.slice(0, 120)}` : "";
  const text = item.text === "" ? "" : `: ${cut(item.text, longestText)}`;
  return `${role}${name}${states}${mark}${url}${text}${isDropdown(item) ? entriesOf(item) : ""}`;
}

/** Whether it has child lines, so that it may be requested by its ref. */
function isPart({ children }: Item): boolean {
  return children.length > 0;
}

/**
 * Whether it is a closed dropdown of the browser: its entries are shown with it, because they
 * cannot be clicked.
 */
function isDropdown({ role, children }: Item): boolean {
  return (
    role === "combobox" &&
    children.length > 0 &&
    children.every((child) => child.role === "option" && child.ref === undefined)
  );
}

const shownEntries = 12;

function entriesOf({ children }: Item): string {
  const chosen = children.filter(({ states }) => states.includes("selected")).map(({ name }) => cut(name, longestName));
  const names = children.slice(0, shownEntries).map(({ name }) => cut(name, 40));
  const more = children.length - names.length;
  return `: ${chosen.join(", ")} (entries: ${names.join(" | ")}${more > 0 ? ` … ${more} more` : ""})`;
}

function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ");
  if (line.length <= length) return line;
  const kept = line.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}… (+${line.length - kept.length} characters)`;
}
