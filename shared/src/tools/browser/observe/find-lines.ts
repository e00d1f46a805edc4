import { estimateText } from "../../../models/tokens.ts";
import type { Line } from "./lines.ts";

/** The lines with a text, those they are below, and the next ones around; "" when there is none. Upper and lower case are the same. */
export function findLines(lines: readonly Line[], text: string, tokens: number): string {
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
