/** What a test run's output says. Counts are undefined where no known form was found. */
export type TestReport = {
  readonly passed: number | undefined;
  readonly failed: number | undefined;
  /** Names of failed tests, in the order of the output. */
  readonly failures: readonly string[];
};

/** A test point that counts: `name` is led by those of the tests it is part of. */
type Point = { readonly name: string; readonly ok: boolean };

const pointLine = /^((?: {4})*)(not )?ok\b(?:\s+(\d+))?(?:\s+-)?\s*(.*)$/;
const planLine = /^1\.\.(\d+)\s*(?:#.*)?$/;
const deepest = 50;

/**
 * Reads TAP (versions 12 to 14, of node:test, tap and others): the innermost test points are counted, those that are skipped or to do aren't, planned ones that
 * never came have failed. Undefined where the output isn't TAP.
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

/** A test's inner tests, or itself where it has none, or where it failed though they did not. */
function pointsOf(own: Point, inner: readonly Point[]): readonly Point[] {
  if (inner.length === 0) return [own];
  const named = inner.map((point) => ({ ...point, name: `${own.name} > ${point.name}` }));
  return own.ok || named.some(({ ok }) => !ok) ? named : [...named, own];
}
