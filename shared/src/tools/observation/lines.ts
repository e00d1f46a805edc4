import { counted } from "../../core/text/counted.ts";
import { actsByRole, type Item, takesText } from "./item.ts";

/** A line of a page's outline. */
export type OutlineLine = {
  readonly depth: number;
  readonly text: string;
  /** Whether the element itself is operated, as a button is and a row of buttons is not. */
  readonly acts: boolean;
  /** How far outside the window, in pixels. */
  readonly away: number;
  /** How soon a reader needs it: 0 for actionable elements and headings, 1 for the rest. */
  readonly rank: 0 | 1;
  /** Whether nothing else of its document can be used while it is open. */
  readonly modal?: true;
  /** Whether an open dialog makes a shape inert. */
  readonly behind?: true;
  /** The number of its parent line; -1 at the top. */
  readonly parent: number;
};

/** How much of each element is written. */
export type Detail = {
  /** Also writes refs of what is not actionable: one for each line. */
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
export function linesOf(items: readonly Item[], detail: Detail): readonly OutlineLine[] {
  const lines: OutlineLine[] = [];
  const add = (item: Item, depth: number, parent: number) => {
    const row = oneRow(item, detail);
    const text = row ?? headOf(item, detail);
    const rank = item.acts || item.role === "heading" || item.role === "dialog" || item.role === "alert" ? 0 : 1;
    lines.push({
      depth,
      text,
      acts: actsByRole(item.role),
      away: item.away,
      rank: row !== undefined && holdsActing(item) ? 0 : rank,
      ...(item.states.includes("modal") && { modal: true }),
      ...(item.behind === true && { behind: true }),
      parent,
    });
    if (row === undefined && !isDropdown(item)) addAll(item.children, depth + 1, lines.length - 1, item.ref);
  };
  const addAll = (children: readonly Item[], depth: number, parent: number, within: string | undefined) => {
    const shown = detail.collapsed ? collapsedRuns(children) : children.map((item) => ({ item, more: 0 }));
    for (const { item, more } of shown) {
      if (item !== undefined) add(item, depth, parent);
      if (more === 0) continue;
      const how = within === undefined ? "browser_snapshot{full: true}" : `browser_snapshot{expand: "${within}"}`;
      const text = `… ${more} more like this (${how} shows them)`;
      lines.push({ depth, text, acts: false, away: 0, rank: 0, parent });
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
  const detailOf = (isMarked: boolean) => ({ ...detail, allRefs: detail.allRefs && isMarked });
  // Beside a field that is written into a word is its label.
  const words = item.children.some(({ role }) => takesText(role)) ? [] : item.children.filter(({ acts }) => !acts);
  const inside = item.children.map((child) => headOf(child, detailOf(words.length === 1), true)).join(" | ");
  const head = headOf(item, detailOf(words.length > 1), true);
  const text = isEntry(head) ? inside : `${head}: ${inside}`;
  return text.length > longestRow ? undefined : text;
}

/** Whether the head of a line says only that it is one of its list's or table's: that is seen. */
function isEntry(head: string): boolean {
  return head === "listitem" || head === "row";
}

function holdsActing(item: Item): boolean {
  return item.children.some(({ acts }) => acts);
}

function headOf(item: Item, detail: Detail, inRow = false): string {
  const { role, ref } = item;
  const shown = ref !== undefined && (item.acts || detail.allRefs || (!inRow && isPart(item)));
  const mark = shown ? ` [${ref}]` : "";
  if (role === "text") return `${cut(item.text, longestText)}${mark}`;
  const name = item.name === "" ? "" : ` "${cut(item.name, role === "heading" ? longestText : longestName)}"`;
  const states = item.states.map((state) => ` [${state}]`).join("");
  const url = detail.urls === true && item.url !== undefined ? ` → ${item.url.slice(0, 120)}` : "";
  const head = `${role}${name}${states}${mark}${url}`;
  if (isDropdown(item)) return `${head}${entriesOf(item)}`;
  const text = cut(item.text, longestText);
  return text === "" ? head : isEntry(head) ? text : `${head}: ${text}`;
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
  return `${kept}… (+${counted(line.length - kept.length, "character")})`;
}
