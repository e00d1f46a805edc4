import { estimateText } from "../../../models/tokens.ts";
import type { Item } from "./item.ts";
import { linesOf } from "./lines.ts";

/** All lines of items, with all refs and addresses, from a line on for as many tokens as there are; the rest by its number. */
export function wholeText(items: readonly Item[], from: number, tokens: number): string {
  const lines = linesOf(items, { allRefs: true, folds: false });
  const shown: string[] = [];
  let left = tokens;
  for (const { depth, text } of lines.slice(from - 1)) {
    left -= estimateText(text) + 2;
    if (left < 0) break;
    shown.push(`${" ".repeat(depth)}- ${text}`);
  }
  const next = from + shown.length;
  if (shown.length === 0) return `There are ${lines.length} lines; none from ${from} on.`;
  if (next <= lines.length) shown.push(`… ${lines.length - next + 1} more lines: from: ${next} reads on.`);
  return shown.join("\n");
}
