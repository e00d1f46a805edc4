const pointLine = /^\s*(not )?ok\b/;
const keyLine = /^(\s*)(\w+):(.*)$/;

/** Keys of a failed test's block that say what is told elsewhere, or nothing of the fault. */
const droppedKeys = /^(?:duration_ms|duration|type|failureType|code|operator)$/;
/** Keys that count where they fit in a line: the message has the long form of them. */
const shortKeys = /^(?:expected|actual|name)$/;
const longestValue = 200;

/**
 * TAP without what a reader of failures does not need: the points that passed, the headings, and of a failed test's block all but its message,
 * its place, and the first frame that is not the runtime's. What tests printed stays. Anything that is not TAP comes back as it is.
 */
export function shortenTap(output: string): string {
  const lines = output.split("\n");
  if (!lines.some((line) => /^TAP version \d+\r?$/.test(line))) return output;
  const kept: string[] = [];
  let block: { readonly end: string; readonly lines: string[] } | undefined;
  let hasFailed = false;
  for (const line of lines) {
    if (block !== undefined) {
      if (line.trimEnd() !== block.end) block.lines.push(line);
      else {
        if (hasFailed) kept.push(...shortenBlock(block.lines));
        block = undefined;
      }
      continue;
    }
    const indent = /^( *)---\r?$/.exec(line)?.[1];
    if (indent !== undefined) {
      block = { end: `${indent}...`, lines: [] };
      continue;
    }
    const point = pointLine.exec(line);
    if (point !== null) hasFailed = point[1] !== undefined;
    if ((point === null || hasFailed) && !/^\s*(?:# Subtest: |1\.\.\d+)/.test(line)) kept.push(line);
  }
  // The output of a run that was stopped may end within a block.
  return [...kept, ...(block?.lines ?? [])].join("\n");
}

/** The lines of a block that matter; none where the test failed because of those within it. */
function shortenBlock(block: readonly string[]): string[] {
  if (block.some((line) => /failureType: '?subtestsFailed/.test(line))) return [];
  const outer = keyLine.exec(block[0] ?? "")?.[1] ?? "";
  const entries: { key: string; lines: string[] }[] = [];
  for (const line of block) {
    const [, indent, key] = keyLine.exec(line) ?? [];
    if (indent === outer && key !== undefined) entries.push({ key, lines: [line] });
    else entries.at(-1)?.lines.push(line);
  }
  return entries.flatMap(({ key, lines }) => {
    if (droppedKeys.test(key)) return [];
    if (shortKeys.test(key)) return lines.length === 1 && (lines[0]?.length ?? 0) <= longestValue ? lines : [];
    if (key !== "stack") return lines;
    const [frame] = lines.slice(1).filter((line) => !line.includes("node:"));
    return frame === undefined ? [] : [`${outer}at: ${frame.trim()}`];
  });
}
