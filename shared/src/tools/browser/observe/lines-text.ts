import type { Line } from "./lines.ts";

/** Whether a line was there at the look before; `unmarked` where there was none. */
export type Novelty = "new" | "old" | "unmarked";

/** From so many lines on a run of what has not changed is folded. */
const leastFolded = 8;

/** Lines as text: new ones with a star, a run of lines that are not shown as their number, and so, where wanted, a run of old ones. */
export function linesText(
  lines: readonly Line[],
  {
    shown,
    novelty,
    foldOld,
  }: { readonly shown: ReadonlySet<number>; readonly novelty: readonly Novelty[]; readonly foldOld: boolean },
): string {
  const texts: string[] = [];
  let old: string[] = [];
  let gap = 0;
  const flush = () => {
    if (old.length >= leastFolded) texts.push(`… ${old.length} lines that you saw before, unchanged`);
    else texts.push(...old);
    if (gap > 0) texts.push(`… ${gap} ${gap === 1 ? "line" : "lines"} left out`);
    old = [];
    gap = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (!shown.has(index)) {
      gap += 1;
      continue;
    }
    const text = `${" ".repeat(line.depth)}${novelty[index] === "new" ? "*" : "-"} ${line.text}`;
    if (gap > 0) flush();
    if (foldOld && novelty[index] === "old") {
      old.push(text);
      continue;
    }
    flush();
    texts.push(text);
  }
  flush();
  return texts.join("\n");
}
