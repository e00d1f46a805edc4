import { counted } from "../../core/text/counted.ts";
import { estimateText } from "../../models/tokens.ts";
import type { Item } from "./item.ts";
import { linesOf, type OutlineLine } from "./lines.ts";

/** The shown lines as text, each run of hidden ones as its number. */
export function linesText(lines: readonly OutlineLine[], shown: ReadonlySet<number>): string {
  const texts: string[] = [];
  let gap = 0;
  const flush = () => {
    if (gap > 0) texts.push(`… ${gap} ${gap === 1 ? "line" : "lines"} left out`);
    gap = 0;
  };
  for (const [index, { depth, text }] of lines.entries()) {
    if (!shown.has(index)) {
      gap += 1;
      continue;
    }
    flush();
    texts.push(`${" ".repeat(depth)}- ${text}`);
  }
  flush();
  return texts.join("\n");
}

/**
 * Which lines of an outline to show within so many tokens: lines in view before those further away,
 * new ones before those with the words of `known`, actionable ones before the rest. A line is not
 * left out alone if it is as short as the words that say so; one that is not `usable` is shown only
 * above one that is.
 */
export function chooseLines(
  lines: readonly OutlineLine[],
  tokens: number,
  { known = new Set(), usable = () => true }: Choice = {},
): ReadonlySet<number> {
  const costs = lines.map(({ text, depth }) => estimateText(text) + 2 + depth / 4);
  const urgencies = lines.map((line) => urgency(line, known));
  const order = lines
    .map((_, index) => index)
    .filter(usable)
    .toSorted((a, b) => (urgencies[a] ?? 0) - (urgencies[b] ?? 0) || a - b);
  const chosen = new Set<number>();
  let left = tokens;
  for (const index of order) {
    const needed: number[] = [];
    for (let at = index; at >= 0 && !chosen.has(at); at = lines[at]?.parent ?? -1) needed.push(at);
    const cost = needed.reduce((sum, at) => sum + (costs[at] ?? 0), 0);
    if (cost > left) continue;
    left -= cost;
    for (const at of needed) chosen.add(at);
    if (left < 8) break;
  }
  for (const [index, { parent }] of lines.entries()) {
    const isAlone =
      usable(index) &&
      !chosen.has(index) &&
      [index - 1, index + 1].every((at) => at < 0 || at >= lines.length || chosen.has(at));
    if (isAlone && (parent < 0 || chosen.has(parent)) && (costs[index] ?? 0) <= shortGap) chosen.add(index);
  }
  return chosen;
}

/**
 * What is known of the lines: those that were told before, with or without refs, and which can be
 * used now.
 */
export type Choice = {
  readonly known?: ReadonlySet<string> | undefined;
  readonly usable?: ((index: number) => boolean) | undefined;
};

/** What it costs to say that a line was left out. */
const shortGap = 8;

const screen = 1_000;

/**
 * Smaller is more urgent: in view, then within a screen, then by distance; within each, new lines
 * first, and actionable ones before text.
 */
function urgency({ away, rank, text }: OutlineLine, known: ReadonlySet<string>): number {
  const distance = away === 0 ? 0 : away <= screen ? 4 : 8 + 4 * Math.floor(away / screen);
  return distance + (known.has(withoutRefs(text)) || known.has(text) ? 2 : 0) + rank;
}

/**
 * A line without the refs of its elements, as it reads where they are not told: a row is named only
 * for its ref.
 */
export function withoutRefs(text: string): string {
  return text.replace(/^(?:row|listitem) \[e\d+\]: /, "").replaceAll(/ \[e\d+\]/g, "");
}

/**
 * The lines with a text, their parents, and the next ones around; "" when there are none.
 * Case-insensitive.
 */
export function findLines(lines: readonly OutlineLine[], text: string, tokens: number): string {
  const wanted = text.toLowerCase();
  const hits = lines.flatMap((line, index) => (line.text.toLowerCase().includes(wanted) ? [index] : []));
  const shown = new Set<number>();
  let left = tokens;
  let told = 0;
  for (const hit of hits) {
    const around = new Set([hit - 1, hit, hit + 1, hit + 2]);
    for (let at = lines[hit]?.parent ?? -1; at >= 0; at = lines[at]?.parent ?? -1) around.add(at);
    const fresh = [...around].filter((at) => lines[at] !== undefined && !shown.has(at));
    left -= fresh.reduce((sum, at) => sum + estimateText(lines[at]?.text ?? "") + 2, 0);
    if (left < 0) break;
    for (const at of fresh) shown.add(at);
    told += 1;
  }
  const texts: string[] = [];
  let last = -1;
  for (const at of [...shown].toSorted((a, b) => a - b)) {
    if (last >= 0 && at > last + 1) texts.push("…");
    texts.push(`${" ".repeat(lines[at]?.depth ?? 0)}- ${lines[at]?.text}`);
    last = at;
  }
  if (told < hits.length) texts.push(`… ${hits.length - told} more places: look for a longer text.`);
  return texts.join("\n");
}

/**
 * All lines of items, with all refs and addresses, starting from a line, within so many tokens; the
 * rest as a number.
 */
export function wholeText(items: readonly Item[], from: number, tokens: number): string {
  const lines = linesOf(items, { allRefs: true, urls: true, collapsed: false });
  const shown: string[] = [];
  let left = tokens;
  for (const { depth, text } of lines.slice(from - 1)) {
    left -= estimateText(text) + 2;
    if (left < 0) break;
    shown.push(`${" ".repeat(depth)}- ${text}`);
  }
  const next = from + shown.length;
  if (shown.length === 0) return `None of ${counted(lines.length, "line")} is from ${from} on.`;
  if (next <= lines.length) shown.push(`… ${counted(lines.length - next + 1, "more line")}: from: ${next} reads on.`);
  return shown.join("\n");
}
