/**
 * The result of a test run, from its output. Counts are undefined when no known format was found.
 */
export type TestReport = {
  readonly passed: number | undefined;
  readonly failed: number | undefined;
  /** Names of failed tests, in the order of the output. */
  readonly failures: readonly string[];
};

/** A test point that counts: `name` starts with the names of the tests that contain it. */
type Point = { readonly name: string; readonly ok: boolean };

const pointLine = /^((?: {4})*)(not )?ok\b(?:\s+(\d+))?(?:\s+-)?\s*(.*)$/;
const planLine = /^1\.\.(\d+)\s*(?:#.*)?$/;
const deepest = 50;

/**
 * Reads TAP (versions 12 to 14, of node:test, tap and others): the innermost test points are
 * counted; skipped and todo points are not; planned points that are missing have failed. Undefined
 * when the output isn't TAP.
 */
export function readTap(lines: readonly string[]): TestReport | undefined {
  const plans = lines.flatMap((line) => planLine.exec(line)?.[1] ?? []);
  const isTap = plans.length > 0 || lines.some((line) => /^TAP version \d+$/.test(line));
  if (!isTap || !lines.some((line) => pointLine.test(line))) return undefined;
  const open: Point[][] = [[]];
  let outermost = 0;
  for (const line of lines) {
    const match = pointLine.exec(line);
    if (match === null) continue;
    const [, indent = "", not, number = "", rest = ""] = match;
    const depth = Math.min(indent.length / 4, deepest);
    if (depth === 0) outermost++;
    const [name = "", directive = ""] = rest.split(/\s+#\s*(?=skip|todo|time=)/i);
    const label = name === "" ? `test ${number}` : name;
    const isCounted = !/^(?:skip|todo)/i.test(directive || rest.replace(/^#\s*/, ""));
    const inner = open.splice(depth + 1).flat();
    const own = { name: label, ok: not === undefined };
    while (open.length <= depth) open.push([]);
    open[depth]?.push(...(isCounted ? pointsOf(own, inner) : []));
  }
  const points = open.flat();
  const missing = Math.max(0, plans.reduce((sum, plan) => sum + Number(plan), 0) - outermost);
  const bail = lines.flatMap((line) => /^Bail out!\s*(.*)$/.exec(line)?.[1] ?? []);
  const failures = [
    ...points.filter(({ ok }) => !ok).map(({ name }) => name),
    ...(missing > 0 ? [`${missing} planned ${missing === 1 ? "test" : "tests"} never ran`] : []),
    ...bail.map((reason) => `Bail out! ${reason}`.trim()),
  ];
  const failed = points.filter(({ ok }) => !ok).length + missing + (missing > 0 ? 0 : bail.length);
  return { passed: points.filter(({ ok }) => ok).length, failed, failures };
}

/**
 * A test's inner tests, or the test itself when it has none or when it failed though they did not.
 */
function pointsOf(own: Point, inner: readonly Point[]): readonly Point[] {
  if (inner.length === 0) return [own];
  const named = inner.map((point) => ({ ...point, name: `${own.name} > ${point.name}` }));
  return own.ok || named.some(({ ok }) => !ok) ? named : [...named, own];
}

const resultLine = /^\s*(not )?ok\b/;
const keyLine = /^(\s*)(\w+):(.*)$/;

/** Keys of a failed test's block that repeat other output, or say nothing about the fault. */
const droppedKeys = /^(?:duration_ms|duration|type|failureType|code|operator)$/;
/** Keys that are kept when they fit on a line: the message contains their long form. */
const shortKeys = /^(?:expected|actual|name)$/;
const longestValue = 200;

/**
 * TAP without what a reader of failures does not need: passed points, headings and, in a failed
 * test's block, all but its message, its place, and the first frame that is not the runtime's. What
 * tests printed stays. Output that is not TAP is returned unchanged.
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
    const point = resultLine.exec(line);
    if (point !== null) hasFailed = point[1] !== undefined;
    if ((point === null || hasFailed) && !/^\s*(?:# Subtest: |1\.\.\d+)/.test(line)) kept.push(line);
  }
  // The output of a stopped run may end within a block.
  return [...kept, ...(block?.lines ?? [])].join("\n");
}

/** The lines of a block that matter; none when the test failed because of its inner tests. */
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
