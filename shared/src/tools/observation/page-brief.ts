import { estimateText } from "../../models/tokens.ts";
import { asData, originOf } from "../page/as-data.ts";
import type { Item } from "./item.ts";
import { withoutRefs } from "./lines-text.ts";
import type { PageLook } from "./look.ts";
import type { LookLines } from "./look-text.ts";
import type { Difference } from "./page-changes.ts";

/** Tokens that a page may take in the conversation once it is out of date. */
const briefTokens = 160;
/** Tokens that changes of it may take then. */
const changesTokens = 60;
const longestLine = 120;
/** Tokens that the rows of one table or list may take of it. */
const rowsTokens = 120;

/**
 * What stays of a page in a long conversation: its address, its title and its first facts, without
 * the possible actions.
 */
export function briefOf({ url, title, items }: PageLook): string {
  const called = title === "" ? [] : [`Title: ${oneLine(title)}`];
  const facts = factsOf(items).filter((fact) => fact !== title);
  const kept = withinBudget(facts, briefTokens);
  const cut = kept.length < facts.length ? ["… more was on the page"] : [];
  return `This page was open then; in short:\n${asData(url.slice(0, 300), [...called, ...kept, ...cut].join("\n"))}`;
}

/**
 * What stays of changes: the texts that came, without the possible actions; empty if there are
 * none.
 */
export function briefOfChanges({ url }: PageLook, { lines }: LookLines, { fresh }: Difference): string {
  const texts = fresh.flatMap((at) => {
    const line = lines[at];
    return line === undefined || line.acts || line.text.startsWith("… ") ? [] : linesWith(withoutRefs(line.text));
  });
  const kept = withinBudget(texts, changesTokens);
  return kept.length === 0 ? "" : asData(originOf(url), kept.map((text) => `+ ${text}`).join("\n"));
}

/** The lines that so many tokens have room for; none after the first that has no room. */
export function withinBudget(lines: readonly string[], tokens: number): string[] {
  let left = tokens;
  return lines.filter((line) => {
    left -= left < 0 ? 0 : estimateText(line) + 1;
    return left >= 0;
  });
}

const furniture = /^(?:navigation|banner|contentinfo|search|menu|menubar|toolbar|tablist)$/;
const rowLike = /^(?:row|listitem)$/;

/**
 * Headings, texts, and the first rows of tables and lists, in the page's order. How many rows are
 * left out is said, or they would be taken for all there were.
 */
function factsOf(items: readonly Item[]): string[] {
  const rows = items.filter(({ role }) => rowLike.test(role));
  const told = rowsWithin(rows);
  return items.flatMap((item): string[] => {
    if (furniture.test(item.role) || (item.acts && !rowLike.test(item.role))) return [];
    if (rowLike.test(item.role)) {
      const row = told.get(item);
      if (row !== undefined) return linesWith(row);
      return item === rows.at(-1) ? [`… ${rows.length - told.size} more like these`] : [];
    }
    if (item.role === "heading") return linesWith(item.name);
    return [...linesWith(item.text), ...factsOf(item.children)];
  });
}

/** The first of these rows, as many as fit, in words; to say that one is left out costs as much. */
function rowsWithin(rows: readonly Item[]): ReadonlyMap<Item, string> {
  const words = rows.map((row) => oneLine(wordsOf(row).join(" | ")));
  const { length } = withinBudget(words, rowsTokens);
  const told = length === rows.length - 1 ? rows.length : length;
  return new Map(rows.slice(0, told).map((row, at) => [row, words[at] ?? ""]));
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

/** A text on one line, shortened. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= longestLine ? line : `${line.slice(0, longestLine).toWellFormed()}…`;
}
