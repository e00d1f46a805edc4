import { estimateText } from "../../../models/tokens.ts";
import type { Line } from "./lines.ts";

/** Which lines of an outline are shown within so many tokens: what is in view before what is further off, what can be acted on before the rest. */
export function chooseLines(lines: readonly Line[], tokens: number): ReadonlySet<number> {
  const costs = lines.map(({ text, depth }) => estimateText(text) + 2 + depth / 4);
  const order = lines.map((_, index) => index).toSorted((a, b) => urgency(lines[a]) - urgency(lines[b]) || a - b);
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
  return chosen;
}

const screen = 1_000;

/** Smaller is sooner: in view, then within a screen, then by distance; in each, what acts before what is only read. */
function urgency(line: Line | undefined): number {
  if (line === undefined) return Number.POSITIVE_INFINITY;
  const distance = line.away === 0 ? 0 : line.away <= screen ? 2 : 4 + Math.floor(line.away / screen);
  return distance + line.rank;
}
