/**
 * Runs every test below the working directory with `bun test`, passing arguments on, shows its
 * output, and ends with one plain line `N passed, N failed` that any reader of test runs
 * understands. Exit code 0 only if all passed.
 *
 * The files of a few failed tests run once more, alone: on a machine that others use too, a test
 * that waits for a browser or a process can miss its time. What passes then is named and counts as
 * passed. Tests that kill, attack or check conformance get no second try: one in a hundred is what
 * they are there to find.
 *
 * The slowest files start first, as `test/runner/timings.json` tells, so that none is left alone at
 * the end. `bun run test --update-timings` on a quiet machine writes it anew.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
const onlyOnce = /crash|kill|attacks\/|faults\/|conformance\/|planted\/|principals\//;

const folder = await mkdtemp(join(tmpdir(), "manyhands-tests-"));
const report = join(folder, "junit.xml");
const kept = "test/runner/timings.json";
const timings = join(folder, "timings.json");
const hasTimings = await Bun.file(kept).exists();
if (hasTimings) await writeTimings(process.cwd(), kept, timings);
const all = await bunTest([
  `--parallel=${workers}`,
  "--no-isolate",
  ...(hasTimings ? [`--timings=${timings}`] : []),
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...process.argv.slice(2),
]);
const failed = await Bun.file(report)
  .text()
  .then(failedTests, () => []);
if (hasTimings && process.argv.includes("--update-timings")) await keepTimings(timings, process.cwd(), kept);
const { passed, failed: left } = await secondTry(all, failed);
await rm(folder, { recursive: true });
process.stdout.write(`\n${passed} passed, ${left} failed\n`);
process.exit(left === 0 ? 0 : 1);

async function bunTest(args: readonly string[]): Promise<TestCounts> {
  const runner = Bun.spawn([process.execPath, "test", "--timeout", String(testMs), ...args], {
    // What tests of this run may share.
    env: { ...process.env, TEST_RUN_FOLDER: folder },
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
  return testCounts(tail, runner.exitCode);
}

/** The counts after a second try, if one is due; failures without a test, as of a crash, stay. */
async function secondTry(first: TestCounts, failed: readonly FailedTest[]): Promise<TestCounts> {
  const again = failed.filter(({ file }) => !onlyOnce.test(file));
  const files = [...new Set(again.map(({ file }) => file))];
  if (files.length === 0 || files.length > maxAgain || failed.length !== first.failed) return first;
  process.stderr.write(`\nOnce more, alone: ${files.join(", ")}\n`);
  const second = await bunTest(files.map((file) => `./${file}`));
  if (second.failed === 0)
    process.stderr.write(`\nPassed only then:\n${again.map(({ file, name }) => `  ${file}: ${name}\n`).join("")}`);
  return {
    passed: first.passed + again.length - second.failed,
    failed: first.failed - again.length + second.failed,
  };
}
