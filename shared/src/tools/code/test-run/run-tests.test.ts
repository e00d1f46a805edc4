import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { runTestsTool } from "./run-tests.ts";
import { readTestReport } from "./test-report.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const cases = `import unittest
class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)
    def test_wrong(self):
        self.assertEqual(1 + 1, 3)
if __name__ == "__main__":
    unittest.main()
`;

test("a Python project's tests are found and run, and the failed one is named", async () => {
  const workspace = await place.project({ "test_sums.py": cases });
  const { text, isError } = await callIn(workspace)(runTestsTool(place), {});
  expect(isError).toBe(false);
  expect(text).toStartWith("1 of 2 tests failed.\n- ");
  expect(text).toContain("\n- test_sums.Sums.test_wrong\n");
  expect(text).toMatch(/\[exit code 1, command: python3 -m (?:unittest discover|pytest [-\w: ]+)\]$/);
  // Paths are those of the tools, and no line is there for its marks alone.
  expect(text).toContain('File "test_sums.py", line 6');
  expect(text).not.toMatch(/^\s*[~^]+$/m);
});

test("tests in a separate folder and code below src find each other", async () => {
  const imports = cases
    .replace("import unittest", "import unittest\nfrom sums import total")
    .replace("1 + 1, 3", "total, 2");
  const workspace = await place.project({
    "proj/src/sums/__init__.py": "total = 2\n",
    "proj/tests/test_sums.py": imports,
  });
  const { text, isError } = await callIn(workspace)(runTestsTool(place), { path: "proj" });
  expect({ isError, first: text.split("\n")[0] }).toEqual({ isError: false, first: "All 2 tests passed." });
});

test("without pytest, what is written for it is named, and nothing is where nothing is", async () => {
  const apart = { "b/test_sums.py": cases, "b/test_more.py": "def test_more():\n    assert True\n" };
  const workspace = await place.project({ "a/test_sums.py": cases, ...apart });
  const run = async (path: string) => (await callIn(workspace)(runTestsTool(place), { path })).text;
  const [plain, mixed] = [await run("a"), await run("b")];
  expect(plain).not.toContain("pytest is not installed");
  if (plain.includes("python3 -m pytest")) return;
  expect(plain).toEndWith("command: python3 -m unittest discover]");
  expect(mixed).toContain("pytest is not installed here: tests written for it, such as test_more.py, are not run.\n");
  expect(mixed).toEndWith("command: python3 -m unittest discover]");
});

test("of many passed tests the lines are left out, so that what failed in their middle is shown", async () => {
  const workspace = await place.project({});
  const run = (lines: string) => callIn(workspace)(runTestsTool(place), { command: `${lines}; false` });
  const passing = (from: number, to: number) =>
    `for n in $(seq ${from} ${to}); do echo "(pass) the price of order $n is that of its country [0.05ms]"; done`;
  const { text } = await run(
    `${passing(1, 150)}; echo 'error: 9.95 is not 9.50'; echo '(fail) order 151 [1ms]'; ${passing(152, 300)}; echo ' 299 pass'; echo ' 1 fail'`,
  );
  expect(text).toStartWith("1 of 300 tests failed.\n- order 151\n");
  expect(text).toContain("\nerror: 9.95 is not 9.50\n(fail) order 151 [1ms]\n");
  expect(text).toContain("\n[299 lines about passed tests left out]\n");
  expect(text.length).toBeLessThan(300);
  const few = await run(`${passing(1, 3)}; echo ' 3 pass'; echo ' 0 fail'`);
  expect(few.text).toContain("(pass) the price of order 3 is that of its country");
});

test("the command given runs in the folder given", async () => {
  const workspace = await place.project({ "sub/test_sums.py": cases.replace("3)", "2)") });
  const { text, isError } = await callIn(workspace)(runTestsTool(place), {
    command: "python3 -m unittest -q test_sums.py",
    path: "sub",
  });
  expect(isError).toBe(false);
  expect(text).toStartWith("All 2 tests passed.");
});

test("tests that do not end are stopped, and the result says so", async () => {
  const workspace = await place.project({});
  const { text, isError } = await callIn(workspace)(runTestsTool(place), { command: "sleep 60", timeout: 0.5 });
  expect(isError).toBe(true);
  expect(text).toStartWith("The tests were stopped before their end (wall time 0.5 s).");
});

test("a test run that could not start is an error, not a count of failures", async () => {
  const workspace = await place.project({});
  const { text, isError } = await callIn(workspace)(runTestsTool(place), { command: "no-such-runner --all" });
  expect(isError).toBe(true);
  expect(text).toStartWith("The tests could not be run: the command ended with exit code 127.");
});

test("tests that failed without counts that can be read are a result, with both outputs in their order", async () => {
  const makefile = "test:\n\t@echo built\n\t@echo '  FAIL a.c:3' >&2\n\t@echo 'sums  did not work'; exit 1\n";
  const workspace = await place.project({ "c/Makefile": makefile });
  const { text, isError } = await callIn(workspace)(runTestsTool(place), { path: "c" });
  expect(isError).toBe(false);
  expect(text).toStartWith("The command ended with exit code 2; how many tests failed is not known.\n");
  expect(text).toContain("built\n  FAIL a.c:3\nsums  did not work\n");
  expect(text).toEndWith("[exit code 2, command: make test]");
});

test("passing tests under a failing command are distinguished", async () => {
  const workspace = await place.project({ "test_sums.py": cases.replace("3)", "2)") });
  const command = "python3 -m unittest -q test_sums.py; exit 3";
  const { text, isError } = await callIn(workspace)(runTestsTool(place), { command });
  expect({ isError, first: text.split("\n")[0] }).toEqual({
    isError: false,
    first: "No test failed of 2, but the command ended with exit code 3.",
  });
});

test("a run that found no tests is not reported as passed", async () => {
  const workspace = await place.project({ "test_sums.py": "def test_right():\n    assert 1 + 1 == 3\n" });
  const { text } = await callIn(workspace)(runTestsTool(place), { command: "python3 -m unittest discover" });
  expect(text).toStartWith("No test ran: ");
});

test("for a folder without tests the result says so", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  expect((await callIn(workspace)(runTestsTool(place), {})).text).toContain("Nothing in . tells how its tests are run");
});

const outputs: readonly (readonly [string, string, ReturnType<typeof readTestReport>])[] = [
  [
    "pytest",
    "FAILED test_a.py::test_x - assert 1 == 2\n================= 1 failed, 3 passed in 0.05s =================",
    { passed: 3, failed: 1, failures: ["test_a.py::test_x - assert 1 == 2"] },
  ],
  [
    "unittest",
    "FAIL: test_x (t.T.test_x)\nRan 4 tests in 0.001s\n\nFAILED (failures=1, skipped=1)",
    { passed: 2, failed: 1, failures: ["t.T.test_x"] },
  ],
  ["bun", "(fail) adds [0.10ms]\n\n 2 pass\n 1 fail\n 3 expect() calls", { passed: 2, failed: 1, failures: ["adds"] }],
  [
    "cargo",
    "test tests::b ... FAILED\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n",
    { passed: 2, failed: 1, failures: ["tests::b"] },
  ],
  [
    "node",
    "✔ adds (0.1ms)\n✖ subtracts (0.2ms)\nℹ pass 1\nℹ fail 1\n✖ failing tests:",
    { passed: 1, failed: 1, failures: ["subtracts"] },
  ],
  ["go", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL", { passed: 1, failed: 1, failures: ["TestB"] }],
  [
    "jest",
    "  ● sum › adds\nTests:       1 failed, 2 passed, 3 total",
    { passed: 2, failed: 1, failures: ["sum › adds"] },
  ],
  [
    "a script of its own",
    "not ok: adds\n  want: 2\n3 passed, 1 failed\n",
    { passed: 3, failed: 1, failures: ["adds"] },
  ],
  ["an unknown runner", "all good", { passed: undefined, failed: undefined, failures: [] }],
];

test.each(outputs)("the output of %s is read", (_, output, report) => {
  expect(readTestReport(output)).toEqual(report);
});

test("TAP is parsed: the innermost tests count and are named, skipped and todo ones do not, planned ones that never ran have failed", () => {
  const node = `TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 0.5
  ...
# Subtest: suite
    # Subtest: inner ok
    ok 1 - inner ok
    not ok 2 - inner bad
    ok 3 - skipped # SKIP
    not ok 4 - later # TODO
    1..4
not ok 2 - suite # time=3ms
1..2
# tests 5
# pass 2
# fail 1`;
  expect(readTestReport(node)).toEqual({ passed: 2, failed: 1, failures: ["suite > inner bad"] });
  expect(readTestReport("1..4\nok 1 - a\nnot ok 2\nok - c # skip no database")).toEqual({
    passed: 1,
    failed: 2,
    failures: ["test 2", "1 planned test never ran"],
  });
  expect(readTestReport("TAP version 14\nok 1 - a\nBail out! no disk")).toEqual({
    passed: 1,
    failed: 1,
    failures: ["Bail out! no disk"],
  });
  expect(readTestReport("ok, that is it\nnot ok to me").passed).toBeUndefined();
});

const perl = `use Test::More tests => 3; ok(1, 'first'); ok(0, 'adds'); is(1, 2, 'equal');`;
test.skipIf(Bun.which("prove") === null || Bun.which("node") === null)(
  "prove and node --test, run for real, name what failed",
  async () => {
    const js = `import { test } from "node:test";\ntest("holds", () => {});\ntest("breaks", () => { throw new Error("x"); });\n`;
    const workspace = await place.project({ "t/a.t": perl, "a.test.mjs": js });
    const run = async (command: string) => (await callIn(workspace)(runTestsTool(place), { command })).text;
    expect(await run("prove")).toStartWith("2 of 3 tests failed.\n- adds\n- equal\n");
    expect(await run("node --test --test-reporter=tap a.test.mjs")).toMatch(
      /^1 of 2 tests failed\.\n- (?:.* > )?breaks\n/,
    );
  },
);

test.skipIf(Bun.which("node") === null)(
  "of TAP the failing tests come with message and place, without the passing ones, blocks of them, and the runner's own frames",
  async () => {
    const js = `import { test, describe, it } from "node:test";
import assert from "node:assert";
for (let n = 0; n < 40; n++) test("holds " + n, () => {});
test("prints", () => console.log("seen on the way"));
describe("sums", () => { it("adds", () => { assert.deepStrictEqual({ a: [1, 2] }, { a: [1, 3] }); }); });
test("throws", () => { const inner = () => { throw new TypeError("bad thing"); }; inner(); });
`;
    const workspace = await place.project({ "a.test.mjs": js });
    const command = "node --test --test-reporter=tap a.test.mjs";
    const { text } = await callIn(workspace)(runTestsTool(place), { command });
    expect(text).toMatch(/^2 of 43 tests failed\./);
    for (const told of [
      "bad thing",
      "deep-equal",
      "a.test.mjs:5",
      "a.test.mjs:6",
      "inner (",
      "seen on the way",
      "# tests 4",
    ])
      expect(text).toContain(told);
    for (const noise of ["ok 1 - holds", "duration_ms:", "node:internal", "subtestsFailed", "# Subtest", "operator:"])
      expect(text).not.toContain(noise);
    expect(text.length).toBeLessThan(2_000);
  },
);

test("unittest's progress output is omitted", async () => {
  const workspace = await place.project({ "test_sums.py": cases });
  const { text } = await callIn(workspace)(runTestsTool(place), { command: "python3 -m unittest test_sums.py" });
  expect(text).toContain("AssertionError");
  expect(text.split("\n").filter((line) => /^[.FEsxu]+$/.test(line))).toEqual([]);
});

test("how a project is tested is told by its files", async () => {
  const script = '{"scripts": {"test": "true"}}';
  const projects: [Record<string, string>, string][] = [
    [{ "go.mod": "module x", "package.json": script }, "go test -v ./..."],
    [{ "Cargo.toml": "", "go.mod": "module x" }, "cargo test"],
    [{ "package.json": script }, "npm test"],
    [{ "package.json": script, "bun.lock": "" }, "bun run test"],
    [{ "package.json": "{}", "bunfig.toml": "" }, "bun test"],
    [{ "package.json": "{}" }, "node --test"],
    [{ "tests/test_a.py": "", "tests/b_test.py": "" }, "unittest discover -s tests]"],
    [{ "tests/test_a.py": "", "tests/__init__.py": "" }, "unittest discover]"],
    [{ "tests/test_a.py": "", "test_b.py": "" }, "unittest discover]"],
    [{ "test_b.py": "" }, "unittest discover]"],
    [{ Makefile: "all:\n\t@true\ncheck: all\n\t@true\n" }, "make check"],
    [{ GNUmakefile: "test check::\n\t@true\n", "package.json": "{}" }, "node --test"],
    [{ Makefile: "test:\n\t@true\n", "test_b.py": "" }, "make test"],
  ];
  const workspace = await place.project(
    Object.fromEntries(
      projects.flatMap(([files], at) => Object.entries(files).map(([path, text]) => [`p${at}/${path}`, text])),
    ),
  );
  const run = callIn(workspace);
  const commands = await Promise.all(
    projects.map(async (_, at) => (await run(runTestsTool(place), { path: `p${at}`, timeout: 20 })).text),
  );
  for (const [at, [, command]] of projects.entries())
    expect(commands[at]?.split("command: ")[1]?.replace(/python3 -m pytest .*/, command)).toContain(command);
});

test("where tests in Python stand beside others, it is said that they were not run, unless the script does", async () => {
  const python = { "tests/test_sums.py": cases };
  const workspace = await place.project({
    ...Object.fromEntries(
      Object.entries(python).flatMap(([path, text]) => [
        [`a/${path}`, text],
        [`b/${path}`, text],
      ]),
    ),
    "a/package.json": '{"scripts": {"test": "echo ok 1 - x"}}',
    "b/package.json": '{"scripts": {"test": "echo ok 1 - x && python3 -m unittest discover -s tests"}}',
  });
  const run = async (path: string) => (await callIn(workspace)(runTestsTool(place), { path })).text;
  expect(await run("a")).toContain(
    "\nNot run: the tests in Python, such as tests/test_sums.py. Give the command for them.\n",
  );
  expect(await run("b")).not.toContain("Not run");
});

test("of many failures the first thirty are named, of a long output the beginning and the end are shown", async () => {
  const workspace = await place.project({});
  const run = (command: string) => callIn(workspace)(runTestsTool(place), { command });
  const failing = await run(
    'echo TAP version 13; for n in $(seq 35); do echo "not ok $n - t$n"; done; echo 1..35; exit 1',
  );
  expect(failing.text).toStartWith("35 of 35 tests failed.\n- t1\n");
  expect(failing.text.match(/^- t\d+$/gm)).toHaveLength(30);
  expect(failing.text).toContain("\n- and 5 more\n");
  const long = await run("echo first; seq 100000 104000; echo last");
  expect(long.text.length).toBeLessThan(8_600);
  expect(long.text).toContain("\nfirst\n100000\n");
  expect(long.text).toMatch(/\[… \d+ characters left out …\]/);
  expect(long.text).toContain("\n104000\nlast\n[exit code 0]");
  const seen = await run('echo "$CI $NO_COLOR $PYTHONDONTWRITEBYTECODE"');
  expect(seen.text).toContain("\n1 1 1\n");
});
