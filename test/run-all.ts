/**
 * Runs every test below the working directory with `bun test`, passing arguments on, shows its
 * output, and ends with one plain line `N passed, N failed` that any reader of test runs
 * understands. Exit code 0 only if all passed.
 */
import { testCounts } from "./test-counts.ts";

const deadlineMs = 45 * 60_000;
/**
 * Generous, since a busy machine is slow; a hanging test is still ended. Bun does not read this
 * from bunfig.toml.
 */
const testMs = 180_000;
/**
 * Files that run at the same time; each worker takes one after another. Much of a test is waiting.
 */
const workers = 3;
const runner = Bun.spawn(
  [
    process.execPath,
    "test",
    `--parallel=${workers}`,
    "--no-isolate",
    "--timeout",
    String(testMs),
    ...process.argv.slice(2),
  ],
  {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  },
);
process.once("SIGTERM", () => runner.kill("SIGTERM"));
process.once("SIGINT", () => runner.kill("SIGINT"));

let tail = "";
for await (const chunk of runner.stderr) {
  process.stderr.write(chunk);
  tail = (tail + new TextDecoder().decode(chunk)).slice(-20_000);
}
await runner.exited;
const { passed, failed } = testCounts(tail, runner.exitCode);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
