import { expect, test } from "bun:test";
import { shortenTap } from "./tap.ts";
import { readTestReport } from "./test-report.ts";

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
