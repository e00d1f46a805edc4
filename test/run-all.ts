/**
 * Runs every test below the working directory with `bun test`, passing arguments on, shows its
 * output, and ends with one plain line `N passed, N failed` that any reader of test runs
 * understands, below the names and errors of the tests that failed. Exit code 0 only if all passed.
 *
 * The files of a few failed tests run once more, alone: on a machine that others use too, a test
 * that waits for a browser or a process can miss its time. What passes then is named and counts as
 * passed. Tests that kill, attack or check conformance get no second try: one in a hundred is what
 * they are there to find.
 *
 * The slowest files start first, as `test/runner/timings.json` tells, so that none is left alone at
 * the end. `bun run test --update-timings` on a quiet machine writes it anew.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileBun } from "./runner/compiled-bun.ts";
import { watchStalls } from "./runner/stalls.ts";
import { type FailedTest, failedTests, type TestCounts, testCounts } from "./runner/test-counts.ts";
import { keepTimings, writeTimings } from "./runner/timings.ts";

const deadlineMs = 45 * 60_000;
/**
 * Generous, since a busy machine is slow; a hanging test is still ended. Bun does not read this
 * from bunfig.toml.
 */
const testMs = 180_000;
/**
 * Files that run at the same time; each worker takes one after another. Much of a test is waiting.
 */
const workers = 6;
/** More failed files than these are no accident. */
const maxAgain = 6;
const errorLines = 30;
const onlyOnce = /crash|\bkills?\b|killed|attacks\/|faults\/|conformance\/|planted\/|principals\//;

const folder = await mkdtemp(join(tmpdir(), "manyhands-tests-"));
const kept = "test/runner/timings.json";
const timings = join(folder, "timings.json");
const hasTimings = await Bun.file(kept).exists();
if (hasTimings) await writeTimings(process.cwd(), kept, timings);
const isWhole =
  process.cwd() === resolve(import.meta.dir, "..") && process.argv.slice(2).every((arg) => arg.startsWith("-"));
// Other users run what it compiles.
await chmod(folder, 0o755);
const compiledBun = isWhole ? await compileBun(folder) : undefined;
const watch = watchStalls();
const all = await bunTest([
  `--parallel=${workers}`,
  "--no-isolate",
  ...(hasTimings ? [`--timings=${timings}`] : []),
  ...process.argv.slice(2),
]);
if (hasTimings && process.argv.includes("--update-timings")) await keepTimings(timings, process.cwd(), kept);
const { passed, failed, tests } = await secondTry(all);
await rm(folder, { recursive: true });
const stalls = watch.stop();
// Last, since a long output is often kept without its beginning.
if (tests.length > 0)
  process.stdout.write(`\nFailed:\n${tests.map(withError).join("")}${stalls.map((one) => `\n${one}\n`).join("")}`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);

/**
 * The counts of a run and the tests that failed in it; a failure may be of no test, as of a crash.
 */
type Outcome = TestCounts & { readonly tests: readonly FailedTest[] };

async function bunTest(args: readonly string[]): Promise<Outcome> {
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const reported = ["--reporter=junit", `--reporter-outfile=${report}`];
  const preload = `--preload=${join(import.meta.dir, "runner/preload.ts")}`;
  const runner = Bun.spawn([process.execPath, "test", preload, "--timeout", String(testMs), ...reported, ...args], {
    env: { ...process.env, COMPILED_BUN: compiledBun },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  const stop = (signal: NodeJS.Signals) => runner.kill(signal);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
  let tail = "";
  for await (const chunk of runner.stderr) {
    process.stderr.write(chunk);
    tail = (tail + new TextDecoder().decode(chunk)).slice(-20_000);
  }
  await runner.exited;
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, stop);
  const tests = await Bun.file(report)
    .text()
    .then(failedTests, () => []);
  return { ...testCounts(tail, runner.exitCode), tests };
}

/** The outcome after a second try, if one is due. */
async function secondTry(first: Outcome): Promise<Outcome> {
  const again = first.tests.filter(({ file }) => !onlyOnce.test(file));
  const files = [...new Set(again.map(({ file }) => file))];
  if (files.length === 0 || files.length > maxAgain || first.tests.length !== first.failed) return first;
  process.stderr.write(`\nOnce more, alone: ${files.join(", ")}\n`);
  const second = await bunTest(files.map((file) => `./${file}`));
  if (second.failed === 0) process.stderr.write(`\nPassed only then:\n${listed(again)}`);
  return {
    passed: first.passed + again.length - second.failed,
    failed: first.failed - again.length + second.failed,
    tests: [...first.tests.filter((test) => !again.includes(test)), ...second.tests],
  };
}

function listed(tests: readonly FailedTest[]): string {
  return tests.map(({ file, name }) => `  ${file}: ${name}\n`).join("");
}

/** A failed test with the beginning of its error: a reader of only the end sees what happened. */
function withError(test: FailedTest): string {
  const error = test.error.split("\n").slice(0, errorLines);
  return listed([test]) + error.map((line) => (line === "" ? "\n" : `    ${line.slice(0, 300)}\n`)).join("");
}
