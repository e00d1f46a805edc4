/** What a test run's output says. Counts are undefined where no known form was found. */
export type TestReport = {
  readonly passed: number | undefined;
  readonly failed: number | undefined;
  /** Names of failed tests, in the order of the output. */
  readonly failures: readonly string[];
};

/** How one test runner writes its counts, and the names of failures. */
type Form = { readonly is: RegExp; readonly passed: RegExp; readonly failed: RegExp; readonly failure: RegExp };

const forms: readonly Form[] = [
  // pytest
  {
    is: /^=*\s*(?:\d+ \w+, )*\d+ (?:passed|failed|errors?)\b.* in [\d.]+s/m,
    passed: /(\d+) passed/g,
    failed: /(\d+) (?:failed|errors?)\b/g,
    failure: /^(?:FAILED|ERROR) (\S+.*)$/gm,
  },
  // bun test
  {
    is: /^\s*\d+ pass\n\s*\d+ fail$/m,
    passed: /^\s*(\d+) pass$/gm,
    failed: /^\s*(\d+) fail$/gm,
    failure: /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm,
  },
  // cargo test
  {
    is: /^test result: /m,
    passed: /^test result: .*?(\d+) passed/gm,
    failed: /^test result: .*?(\d+) failed/gm,
    failure: /^test (.+) \.\.\. FAILED$/gm,
  },
  // node --test, in both of its forms
  {
    is: /^(?:#|ℹ) pass \d+$/m,
    passed: /^(?:#|ℹ) pass (\d+)$/gm,
    failed: /^(?:#|ℹ) fail (\d+)$/gm,
    failure: /^\s*(?:not ok \d+ - |✖ )(?!failing tests)(.+?)(?: \([\d.]+ms\))?$/gm,
  },
  // jest, vitest
  {
    is: /^\s*Tests:?\s+.*\d+ (?:passed|failed)/m,
    passed: /^\s*Tests:?\s.*?(\d+) passed/gm,
    failed: /^\s*Tests:?\s.*?(\d+) failed/gm,
    failure: /^\s*(?:●|FAIL) (.+)$/gm,
  },
  // go test -v
  {
    is: /^\s*--- (?:PASS|FAIL): /m,
    passed: /^\s*--- (PASS): /gm,
    failed: /^\s*--- (FAIL): /gm,
    failure: /^\s*--- FAIL: (\S+)/gm,
  },
];

/** Characters of a line that are read: none of a runner's own is longer, and the patterns take time with the square of it. */
const longestLine = 400;

/** Reads the output of the common test runners. */
export function readTestReport(whole: string): TestReport {
  const output = shortLines(whole);
  const unittest = readUnittest(output);
  if (unittest !== undefined) return unittest;
  const form = forms.find(({ is }) => is.test(output));
  if (form === undefined) return { passed: undefined, failed: undefined, failures: [] };
  const failures = [...new Set([...output.matchAll(form.failure)].map((match) => match[1] ?? ""))];
  return { passed: total(output, form.passed), failed: total(output, form.failed), failures };
}

/** The lines that are not blank: a pattern that begins with space would look through a run of blank ones from each of them. */
function shortLines(output: string): string {
  const lines = output.split(/[\r\n\u2028\u2029]+/).map((line) => line.slice(0, longestLine).trimEnd());
  return lines.filter((line) => line !== "").join("\n");
}

/** The sum of the numbers found; a match that is a word counts one. */
function total(output: string, pattern: RegExp): number {
  return [...output.matchAll(pattern)].reduce(
    (sum, [, found]) => sum + (/^\d+$/.test(found ?? "") ? Number(found) : 1),
    0,
  );
}

function readUnittest(output: string): TestReport | undefined {
  const ran = /^Ran (\d+) tests? in [\d.]+s$/m.exec(output);
  if (ran === null) return undefined;
  const ending = /^FAILED \((.*)\)$/m.exec(output)?.[1] ?? "";
  const failed = total(ending, /(?:failures|errors)=(\d+)/g);
  const skipped = total(/^OK \((.*)\)$/m.exec(output)?.[1] ?? ending, /skipped=(\d+)/g);
  const failures = [...output.matchAll(/^(?:FAIL|ERROR): (.+)$/gm)].map((match) => match[1] ?? "");
  return { passed: Number(ran[1]) - failed - skipped, failed, failures };
}
