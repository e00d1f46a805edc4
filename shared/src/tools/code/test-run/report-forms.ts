/**
 * How one test runner writes its counts, and the names of failures: each within one line. `all`
 * counts those that ran, where a runner does not say how many passed.
 */
export type ReportForm = {
  readonly is: RegExp;
  readonly failed: RegExp;
  readonly failure: RegExp;
  readonly skipped?: RegExp;
  /** The only lines that counts are read in; with `last`, the last of them. */
  readonly within?: RegExp;
  readonly last?: true;
  /** A line that says no more than that a test passed, or has begun. */
  readonly pass?: RegExp;
} & ({ readonly passed: RegExp } | { readonly all: RegExp });

/** What stands for a failed test in front of its name, where nothing else is known of a runner. */
export const failureLine = /^\s*(?:not ok|FAIL(?:ED)?|[✗✘✖×]):?\s+(\S.*)$/;

const maven = /^(?:\[\w+\]\s+)?Tests run: \d+, +Failures: \d+(?:, +Errors: \d+)?(?:, +Skipped: \d+)?$/;
const leiningen = /^Ran \d+ tests? containing |^\d+ failures?, \d+ errors?\.$/;

/** Those whose lines are their own, the most particular first. */
export const reportForms: readonly ReportForm[] = [
  // pytest
  {
    is: /^=*\s*(?:\d+ \w+, )*\d+ (?:passed|failed|errors?)\b.* in [\d.]+s/,
    passed: /(\d+) passed/g,
    failed: /(\d+) (?:failed|errors?)\b/g,
    failure: /^(?:FAILED|ERROR) (\S+.*)$/,
    pass: /^\S.*::.* PASSED(?:\s+\[ *\d+%\])?$/,
  },
  // bun test
  {
    is: /^\s*\d+ pass$/,
    passed: /^\s*(\d+) pass$/g,
    failed: /^\s*(\d+) fail$/g,
    failure: /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/,
    pass: /^\(pass\) /,
  },
  // cargo test
  {
    is: /^test result: /,
    passed: /^test result: .*?(\d+) passed/g,
    failed: /^test result: .*?(\d+) failed/g,
    failure: /^test (.+) \.\.\. FAILED$/,
    pass: /^test .+ \.\.\. ok\b/,
  },
  // node --test in its format for people
  {
    is: /^ℹ pass \d+$/,
    passed: /^ℹ pass (\d+)$/g,
    failed: /^ℹ fail (\d+)$/g,
    failure: /^\s*✖ (?!failing tests)(.+?)(?: \([\d.]+ms\))?$/,
    pass: /^\s*✔ /,
  },
  // jest, vitest
  {
    is: /^\s*Tests:?\s+.*\d+ (?:passed|failed)/,
    passed: /^\s*Tests:?\s.*?(\d+) passed/g,
    failed: /^\s*Tests:?\s.*?(\d+) failed/g,
    failure: /^\s*(?:●|FAIL) (.+)$/,
    pass: /^\s*[✓√] /,
  },
  // go test -v
  {
    is: /^\s*--- (?:PASS|FAIL): /,
    passed: /^\s*--- (PASS): /g,
    failed: /^\s*--- (FAIL): /g,
    failure: /^\s*--- FAIL: (\S+)/,
    pass: /^\s*--- PASS: |^=== (?:RUN|PAUSE|CONT|NAME)\b/,
  },
  // ctest
  {
    is: /^\d+% tests passed, \d+ tests? failed out of \d+/,
    all: /^\d+% tests passed, \d+ tests? failed out of (\d+)/g,
    failed: /^\d+% tests passed, (\d+) tests? failed/g,
    failure: /^\s*\d+ - (\S+) \((?!Not Run|Disabled|Skipped)[^)]+\)/,
    pass: /^ *\d+\/\d+ Test +#\d+: .* Passed +[\d.]+ sec$|^ +Start +\d+: /,
  },
  // dotnet test, and vstest
  {
    is: /^(?:Passed|Failed|Skipped)!\s+-\s+Failed:\s+\d+/,
    passed: /^\w+!\s+-\s.*?Passed:\s+(\d+)/g,
    failed: /^\w+!\s+-\s+Failed:\s+(\d+)/g,
    failure: /^\s+Failed (\S.*?)(?: \[[^\]]*\])?$/,
    pass: /^\s+Passed \S/,
  },
  {
    is: /^Total tests: \d+$/,
    passed: /^\s+Passed: (\d+)$/g,
    failed: /^\s+Failed: (\d+)$/g,
    failure: /^\s+Failed (\S.*?)(?: \[[^\]]*\])?$/,
    pass: /^\s+Passed \S/,
  },
  // Maven and JUnit 4; lines with a time are about one class.
  {
    is: maven,
    within: maven,
    all: /Tests run: (\d+)/g,
    failed: /(?:Failures|Errors): (\d+)/g,
    skipped: /Skipped: (\d+)/g,
    failure: /^(?:\[ERROR\]\s+|\d+\) )([\w.$]+(?:[.:(]\w+)\S*).*$/,
  },
  // sbt
  {
    is: /^(?:\[\w+\] )?(?:Passed|Failed): Total \d+, Failed \d+/,
    passed: /(?:Passed|Failed): Total \d+, .*\bPassed (\d+)/g,
    failed: /(?:Passed|Failed): Total \d+, Failed (\d+)/g,
    failure: /^(?:\[\w+\] )?\s*(\S.*?) \*\*\* FAILED \*\*\*/,
  },
  // GoogleTest
  {
    is: /^\[=+\] \d+ tests? from .* ran\./,
    passed: /^\[ +PASSED +\] (\d+) tests?\b/g,
    failed: /^\[ +FAILED +\] (\d+) tests?, listed/g,
    failure: /^\[ +FAILED +\] ([\w/]+\.[\w/]+)/,
    pass: /^\[ +(?:RUN|OK) +\] /,
  },
  // Catch2, doctest
  {
    is: /^(?:\[doctest\] )?test cases:\s+\d+ \|/,
    passed: /test cases:.*?\|\s*(\d+) passed/g,
    failed: /test cases:.*?\|\s*(\d+) failed/g,
    failure: failureLine,
  },
  // mocha
  {
    is: /^\s+\d+ passing\b/,
    passed: /^\s+(\d+) passing\b/g,
    failed: /^\s+(\d+) failing$/g,
    failure: /^\s{4,}\d+\) (\S.*)$/,
    pass: /^\s+[✔✓√] /,
  },
  // Meson, Automake
  {
    is: /^(?:# PASS|Ok):\s+\d+$/,
    passed: /^(?:# PASS|Ok):\s+(\d+)$/g,
    failed: /^(?:# FAIL|# ERROR|Fail|Timeout):\s+(\d+)$/g,
    failure: failureLine,
  },
  // XCTest, which sums up each suite and then all
  {
    is: /^\s*Executed \d+ tests?, with /,
    within: /^\s*Executed \d+ tests?, with /,
    last: true,
    all: /Executed (\d+)/g,
    failed: /(\d+) failures?\b/g,
    skipped: /(\d+) tests? skipped/g,
    failure: /error: -\[(\S+ \S+)\]/,
  },
  // Leiningen
  {
    is: /^Ran \d+ tests? containing /,
    within: leiningen,
    all: /^Ran (\d+)/g,
    failed: /(\d+) (?:failures?|errors?)\b/g,
    failure: /^FAIL in \((\S+)\)/,
  },
  // testthat
  {
    is: /^\[ FAIL \d+ \| .*PASS \d+ \]$/,
    within: /^\[ FAIL \d+ \| .*PASS \d+ \]$/,
    last: true,
    passed: /PASS (\d+)/g,
    failed: /FAIL (\d+)/g,
    failure: /^── (?:Failure|Error) \((.+?)\)/,
  },
];
