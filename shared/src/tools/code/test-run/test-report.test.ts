import { expect, test } from "bun:test";
import { shortenTap } from "./tap.ts";
import { readTestReport, withoutPassed } from "./test-report.ts";

test("a report of any content is parsed in linear time", () => {
  const long = 512 * 1024;
  const pieces = [
    "\n",
    " ",
    "\t",
    "=",
    "1 ",
    "1 a, ",
    "1 pass\n",
    "test result: ",
    "Tests: ",
    "Tests: 1 passed\n",
    "✖ a ",
    "not ok 1 - ",
    "(fail) a [",
    "● ",
    "# pass ",
    "--- FAIL: ",
    "---\n",
    "---\n...\n",
    "test a ",
    "Ran 1 test",
    "FAILED (",
    "OK (",
    "OK (failures=",
    "\r\n",
    "1",
    "a",
    "\u2028",
  ];
  for (const piece of pieces) {
    const output = piece.repeat(long / piece.length);
    const begun = performance.now();
    readTestReport(output);
    shortenTap(`TAP version 13\nnot ok 1\n${output}`);
    readTestReport(
      `${output}\n\nTests: 1 failed\n 1 pass\n 1 fail\ntest result: x\n# pass 1\n=== 1 failed in 1.0s\n${output}`,
    );
    expect([piece, performance.now() - begun < 10_000]).toEqual([piece, true]);
  }
});

test("counts are found after blank lines and indentation, on separate lines", () => {
  expect(readTestReport("\n\n   \n 3 pass\n 1 fail\n")).toMatchObject({ passed: 3, failed: 1 });
  expect(readTestReport("\n\n  Tests:       1 failed, 2 passed, 3 total\n")).toMatchObject({ passed: 2, failed: 1 });
  expect(readTestReport("\n\n    --- FAIL: TestX (0.00s)\n")).toMatchObject({ failed: 1, failures: ["TestX"] });
  expect(readTestReport("=== 1 failed, 2 passed, 1 skipped in 0.12s ===")).toMatchObject({ passed: 2, failed: 1 });
});

test("of several files of tests in TAP each has its own plan, and what one of them never ran has failed", () => {
  const output = "TAP version 13\n1..2\nok 1 - a\nTAP version 13\n1..2\nok 1 - b\nok 2 - c\n";
  expect(readTestReport(output)).toEqual({ passed: 3, failed: 1, failures: ["1 planned test never ran"] });
});

test.each([
  [
    "a test that fails though what is in it passed",
    ["TAP version 14", "1..1", "    ok 1 - inner", "    1..1", "not ok 1 - outer"],
    { passed: 1, failed: 1, failures: ["outer"] },
  ],
  [
    "a test that fails because of what is in it",
    ["TAP version 14", "1..1", "    not ok 1 - inner", "    1..1", "not ok 1 - outer"],
    { passed: 0, failed: 1, failures: ["outer > inner"] },
  ],
  [
    "a run that gave up, with all that was planned",
    ["TAP version 14", "1..1", "ok 1 - a", "Bail out! no database"],
    { passed: 1, failed: 1, failures: ["Bail out! no database"] },
  ],
  [
    "a run that gave up before the rest",
    ["TAP version 14", "1..2", "ok 1 - a", "Bail out! no database"],
    { passed: 1, failed: 1, failures: ["1 planned test never ran", "Bail out! no database"] },
  ],
  [
    "skipped tests of unittest",
    ["ss.F", "FAIL: test_a (t.T)", "Ran 4 tests in 0.01s", "FAILED (failures=1, skipped=2)"],
    { passed: 1, failed: 1, failures: ["test_a (t.T)"] },
  ],
  [
    "a file that prove finds broken",
    ["t/a.t (Wstat: 256 (exited 1) Tests: 2 Failed: 0)", "Files=2, Tests=5,  0 wallclock secs"],
    { passed: 5, failed: 1, failures: ["t/a.t ended badly"] },
  ],
] as const)("%s is counted as that", (_, lines, report) => {
  expect(readTestReport(`${lines.join("\n")}\n`)).toEqual({ ...report, failures: [...report.failures] });
});

test.each([
  ["6 checks, 0 failed", 6, 0],
  ["sums  2 checks, 1 failed", 1, 1],
  ["a: 3 checks, 0 failed\nb: 2 checks, 1 failed\ntotal: 5 checks, 1 failed", 4, 1],
  ["a: 3 tests, 0 failed\nb: 2 tests, 1 failed", 4, 1],
  ["OK (5 tests)", 5, 0],
  ["OK (5 tests, 12 assertions)", 5, 0],
  ["Tests: 5, Assertions: 7, Failures: 1, Errors: 1.", 3, 2],
  ["5 examples, 0 failures", 5, 0],
  ["7 examples, 1 failure, 2 pending", 4, 1],
  ["2 doctests, 5 tests, 1 failure", 4, 1],
  ["5 runs, 7 assertions, 1 failures, 1 errors, 0 skips", 3, 2],
  ["5 tests completed, 1 failed", 4, 1],
  ["ok | 5 passed | 0 failed (12ms)", 5, 0],
  ["5 successes / 1 failure / 0 errors / 0 pending : 0.01 seconds", 5, 1],
  ["5/6 tests passed", 5, 1],
  ["All 5 tests passed.", 5, 0],
  ["passed: 4, failed: 2", 4, 2],
  ["4 tests passed, 2 tests failed", 4, 2],
  ["All tests passed (7 assertions in 5 test cases)", 5, 0],
  ["test cases:  5 |  4 passed | 1 failed\nassertions: 9 | 8 passed | 1 failed", 4, 1],
  ["80% tests passed, 1 tests failed out of 5", 4, 1],
  ["Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 3 ms", 5, 0],
  ["Total tests: 5\n     Passed: 4\n     Failed: 1", 4, 1],
  [
    "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1",
    2,
    2,
  ],
  [
    "[==========] 5 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:",
    4,
    1,
  ],
  ["  5 passing (10ms)\n  1 failing", 5, 1],
  ["[error] Failed: Total 5, Failed 1, Errors 0, Passed 4", 4, 1],
  ["Ok:                 5\nFail:               1", 5, 1],
  ["# TOTAL: 5\n# PASS:  4\n# FAIL:  1", 4, 1],
  [
    "Executed 5 tests, with 1 failure (0 unexpected) in 0.1 seconds\nExecuted 5 tests, with 1 failure (0 unexpected) in 0.2 seconds",
    4,
    1,
  ],
  ["Ran 5 tests containing 7 assertions.\n1 failures, 0 errors.", 4, 1],
  ["[ FAIL 1 | WARN 0 | SKIP 0 | PASS 5 ]", 5, 1],
] as const)("the sum %j is %p passed and %p failed", (output, passed, failed) => {
  expect(readTestReport(`building\n${output}\n`)).toMatchObject({ passed, failed });
});

test.each([
  "src/a.c: 2 errors, 1 warning",
  "3 files changed, 2 insertions",
  "Tests run in 5 s",
  "Passed 3 of the arguments on",
])("%j is no sum of tests", (output) => {
  expect(readTestReport(output)).toEqual({ passed: undefined, failed: undefined, failures: [] });
});

test.each([
  [
    "GoogleTest",
    "[  FAILED  ] Sum.Wrong (0 ms)\n[==========] 1 test from 1 test suite ran. (1 ms total)\n[  PASSED  ] 0 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.Wrong",
    "Sum.Wrong",
  ],
  ["ctest", "0% tests passed, 1 tests failed out of 1\n\t  1 - sums (Failed)", "sums"],
  [
    "dotnet",
    "  Failed Sums.Wrong [3 ms]\nFailed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1",
    "Sums.Wrong",
  ],
  ["a script", "  FAIL a.c:3\n1 checks, 1 failed", "a.c:3"],
] as const)("the failed test of %s is named", (_, output, name) => {
  expect(readTestReport(output).failures).toEqual([name]);
});

test("lines about passed tests are known of each runner that writes them", () => {
  const runners: readonly (readonly [sum: string, passed: string, failed: string])[] = [
    [
      "== 1 failed, 30 passed in 0.1s ==",
      "tests/test_a.py::test_n PASSED          [ 50%]",
      "tests/test_a.py::test_n FAILED",
    ],
    [" 30 pass", "(pass) n [0.05ms]", "(fail) n"],
    ["test result: FAILED. 30 passed; 1 failed", "test sums::n ... ok", "test sums::n ... FAILED"],
    ["ℹ pass 30", "  ✔ n (0.5ms)", "✖ n (1ms)"],
    ["Tests:       1 failed, 30 passed, 31 total", "    ✓ n (2 ms)", "    ✕ n"],
    ["      Tests  1 failed | 30 passed (31)", " ✓ src/n.test.ts (4 tests) 3ms", " × n"],
    ["--- FAIL: TestX (0.00s)", "--- PASS: TestN (0.00s)", "    a_test.go:3: wrong"],
    ["--- FAIL: TestX (0.00s)", "=== RUN   TestN", "    a_test.go:3: wrong"],
    ["97% tests passed, 1 tests failed out of 31", "1/31 Test  #1: n ......   Passed    0.01 sec", "***Failed"],
    ["[==========] 31 tests from 1 test suite ran. (3 ms total)", "[       OK ] Sums.N (0 ms)", "a.cc:3: Failure"],
    ["[==========] 31 tests from 1 test suite ran. (3 ms total)", "[ RUN      ] Sums.N", "a.cc:3: Failure"],
    ["  30 passing (5ms)", "    ✔ n", "  1) n"],
    ["Total tests: 31", "  Passed Sums.N [3 ms]", "  Failed Sums.X [3 ms]"],
    ["Ran 31 tests in 0.010s", "test_n (test_a.Sums.test_n) ... ok", "test_x (test_a.Sums.test_x) ... FAIL"],
  ];
  for (const [sum, passed, failed] of runners) {
    const many = [...Array<string>(30).fill(passed), failed, sum].join("\n");
    expect(withoutPassed(many)).toBe(`${failed}\n${sum}\n[30 lines about passed tests left out]`);
  }
  expect(withoutPassed("(pass) of no runner\n".repeat(30))).toContain("(pass) of no runner");
});
