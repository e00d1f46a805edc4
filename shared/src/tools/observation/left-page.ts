import { estimateText } from "../../models/tokens.ts";
import { asData } from "../page/as-data.ts";
import type { Item } from "./item.ts";
import type { PageLook } from "./look.ts";
import type { SnapshotState } from "./snapshot-state.ts";

/** Tokens that a page may take in the conversation after the agent has left it. */
const digestTokens = 160;
const longestLine = 120;
/** Rows reported of each table or list. */
const mostRows = 4;
/**
 * Lines remembered as kept. A conversation that has seen more forgets them all and may repeat a
 * line.
 */
const mostKept = 2_000;

/**
 * Records what a look read; `kept` when its text stays in the conversation, so that nothing of it
 * has to be repeated.
 */
export function noteRead({ tab, url, title, items }: PageLook, looks: SnapshotState, kept: boolean): void {
  const lines = factsOf(items);
  looks.read = { tab: tab.id, url, title, lines };
  if (kept) keep(looks, lines);
}

/**
 * What a result keeps of a page that an act has left: its first facts, which the model saw but the
 * conversation does not have, because an observation lasts for one turn only. Empty when the page
 * is still the same, or when nothing on it is new.
 */
export function digestOfLeft(looks: SnapshotState, now: { readonly tab: number; readonly url: string }): string[] {
  const { read } = looks;
  if (read === undefined || read.tab !== now.tab || withoutHash(read.url) === withoutHash(now.url)) return [];
  looks.read = undefined;
  const fresh = withinBudget(read.lines.filter((line) => !looks.keptLines.has(line)));
  if (fresh.length === 0) return [];
  keep(looks, fresh);
  const title = read.title === "" ? [] : [`Title: ${oneLine(read.title)}`];
  return [`Of the page before, in short:\n${asData(read.url.slice(0, 300), [...title, ...fresh].join("\n"))}`];
}

function keep(looks: SnapshotState, lines: readonly string[]): void {
  if (looks.keptLines.size > mostKept) looks.keptLines.clear();
  for (const line of lines) looks.keptLines.add(line);
}

function withinBudget(lines: readonly string[]): string[] {
  let left = digestTokens;
  return lines.filter((line) => {
    left -= left < 0 ? 0 : estimateText(line) + 1;
    return left >= 0;
  });
}

const furniture = /^(?:navigation|banner|contentinfo|search|menu|menubar|toolbar|tablist)$/;
const rowLike = /^(?:row|listitem)$/;

/** Headings, texts, and the first rows of tables and lists, in the page's order. */
function factsOf(items: readonly Item[]): string[] {
  let rows = 0;
  return items.flatMap((item): string[] => {
    if (furniture.test(item.role) || (item.acts && !rowLike.test(item.role))) return [];
    if (rowLike.test(item.role)) return rows++ < mostRows ? linesWith(wordsOf(item).join(" | ")) : [];
    if (item.role === "heading") return linesWith(item.name);
    return [...linesWith(item.text), ...factsOf(item.children)];
  });
}

/** All words of a row, including those of its links; field values are not the page's words. */
function wordsOf({ role, name, text, acts, children }: Item): string[] {
  if (acts && !/^(?:link|gridcell|row|listitem)$/.test(role)) return [];
  const within = children.flatMap(wordsOf);
  return text !== "" ? [text, ...within] : within.length > 0 || role === "row" || name === "" ? within : [name];
}

function linesWith(text: string): string[] {
  const line = oneLine(text);
  return line === "" ? [] : [line];
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= longestLine ? line : `${line.slice(0, longestLine).toWellFormed()}…`;
}

function withoutHash(url: string): string {
  return url.split("#")[0] ?? "";
}
