import { counted } from "../../../core/text/counted.ts";
import { readSums } from "./read-sums.ts";
import { type ReportForm, reportForms } from "./report-forms.ts";
import { readTap, type TestReport } from "./tap.ts";

/** A longer line is not part of a report. */
const longestLine = 2_000;
/** A line with only the dots and letters that unittest prints as progress. */
const progress = /^[.FEsxu]+$/;

/** Reads the output of the common test runners, in time linear in its length. */
export function readTestReport(output: string): TestReport {
  const lines = reportLines(output);
  return readUnittest(lines) ?? readProve(lines) ?? readTap(lines) ?? readForm(lines) ?? readSums(lines) ?? unknown;
}

function reportLines(output: string): string[] {
  return output.split(/\r?\n/).filter((line) => /\S/.test(line) && line.length <= longestLine);
}

/** As many lines about passed tests are shown: they tell that a new test was run. */
const mostPassed = 20;

/**
 * The output without what its runner writes about each passed test, where that is much: it would
 * take the place of what failed. How many lines those were is said at the end.
 */
export function withoutPassed(output: string): string {
  const report = reportLines(output);
  const pass = report.some((line) => unittestSum.test(line)) ? /^.+ \.\.\. ok$/ : formOf(report)?.pass;
  if (pass === undefined) return output;
  const lines = output.split("\n");
  const kept = lines.filter((line) => line.length > longestLine || !pass.test(line.trimEnd()));
  const left = lines.length - kept.length;
  return left <= mostPassed ? output : `${kept.join("\n")}\n[${counted(left, "line")} about passed tests left out]`;
}

/** The output without unittest's progress lines. */
export function withoutProgress(output: string): string {
  const lines = output.split("\n");
  if (!lines.some((line) => unittestSum.test(line))) return output;
  return lines.filter((line) => !progress.test(line)).join("\n");
}

const unknown: TestReport = { passed: undefined, failed: undefined, failures: [] };

function formOf(lines: readonly string[]): ReportForm | undefined {
  return reportForms.find(({ is }) => lines.some((line) => is.test(line)));
}

function readForm(lines: readonly string[]): TestReport | undefined {
  const form = formOf(lines);
  if (form === undefined) return undefined;
  const sums = sumLines(lines, form);
  const failed = total(sums, form.failed);
  const skipped = form.skipped === undefined ? 0 : total(sums, form.skipped);
  return {
    passed: "passed" in form ? total(sums, form.passed) : total(sums, form.all) - failed - skipped,
    failed,
    failures: [...new Set(found(lines, form.failure))],
  };
}

/** The lines of a report that its counts are read in. */
function sumLines(lines: readonly string[], { within, last }: ReportForm): readonly string[] {
  const sums = within === undefined ? lines : lines.filter((line) => within.test(line));
  return last ? sums.slice(-1) : sums;
}

const unittestSum = /^Ran (\d+) tests? in [\d.]+s$/;

/**
 * Where a test's own name stands at the end of its whole one, as in `test_a (sums.Sums.test_a)`,
 * the whole one.
 */
function withoutDouble(name: string): string {
  const [, own, whole] = /^(\S+) \((\S+)\)$/.exec(name) ?? [];
  return whole?.endsWith(`.${own}`) ? whole : name;
}

function readUnittest(lines: readonly string[]): TestReport | undefined {
  const [ran] = found(lines, unittestSum);
  if (ran === undefined) return undefined;
  const ending = lines.filter((line) => /^(?:FAILED|OK) \(.*\)$/.test(line)).slice(-1);
  const failed = total(ending, /(?:failures|errors)=(\d+)/g);
  const skipped = total(ending, /skipped=(\d+)/g);
  return {
    passed: Number(ran) - failed - skipped,
    failed,
    failures: found(lines, /^(?:FAIL|ERROR): (.+)$/).map(withoutDouble),
  };
}

/**
 * `prove` summarises files of TAP without showing their points; the names of failures are on
 * standard error.
 */
function readProve(lines: readonly string[]): TestReport | undefined {
  const [tests] = found(lines, /^Files=\d+, Tests=(\d+),/);
  if (tests === undefined) return undefined;
  const failed = total(lines, /\(Wstat: .* Tests: \d+ Failed: (\d+)\)$/g);
  const named = found(lines, /^#\s+Failed test '(.+)'$/);
  const broken = found(lines, /^(\S+) +\(Wstat: [^)]*(?:\([^)]*\))? Tests: \d+ Failed: 0\)$/);
  const files = broken.map((file) => `${file} ended badly`);
  return {
    passed: Number(tests) - failed,
    failed: failed + files.length,
    failures: [...new Set([...named, ...files])],
  };
}

function found(lines: readonly string[], pattern: RegExp): string[] {
  return lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
}

/** The sum of the numbers found; a match that is a word counts as one. */
function total(lines: readonly string[], pattern: RegExp): number {
  const all = lines.flatMap((line) => [...line.matchAll(pattern)].map((match) => match[1] ?? ""));
  return all.reduce((sum, text) => sum + (/^\d+$/.test(text) ? Number(text) : 1), 0);
}
