/**
 * Plants the faults of `faults.ts` one at a time into a copy of this checkout, and reports which of
 * them the tests find:
 *
 * - `bun test/planted/plant.ts`: all of them, which takes hours
 * - `bun test/planted/plant.ts half-a-patch`: the named ones
 * - `bun test/planted/plant.ts drawn.json`: those in a file, which measures the tests rather than
 *   the list, if somebody drew them who has read no test
 *
 * A fault is caught if a test fails with it, passes without it and fails with it again; it has
 * survived if all pass. Exit code 1 below 95 % caught. To add one, see `faults.ts`.
 */
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { drawnFaults } from "./drawn.ts";
import type { Fault } from "./fault.ts";
import { faults } from "./faults.ts";

/** The result for one fault; `by` is the first test that failed. */
export type Finding = { readonly id: string } & (
  | { readonly caught: true; readonly by: string }
  | { readonly caught: false; readonly why: string }
);

const root = resolve(import.meta.dir, "../..");
const enough = 0.95;
const deadlineMs = 15 * 60_000;
const testMs = 60_000;
/**
 * How often a fault is planted if the failing test also fails without it, or does not fail again.
 */
const tries = 3;

/**
 * Plants the faults one after another. Rejects if a fault's text is not in its file exactly once,
 * if no copy can be made, or with the signal's reason.
 */
export async function plantAll(
  planted: readonly Fault[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Finding[]> {
  const copy = await mkdtemp(join(tmpdir(), "manyhands-planted-"));
  try {
    await copyCheckout(copy);
    const verdicts: Finding[] = [];
    for (const fault of planted) {
      const verdict = await plant(fault, copy, signal);
      say(`${verdict.caught ? "caught  " : "SURVIVED"} ${fault.id}: ${verdict.caught ? verdict.by : verdict.why}`);
      verdicts.push(verdict);
    }
    return verdicts;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** The file with the fault in it. Throws unless the replaced text occurs exactly once. */
export function withFault({ id, find, becomes }: Omit<Fault, "tests">, source: string): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${id}: what it replaces stands there ${more.length === 0 ? "not at all" : "more than once"}.`);
  return before + becomes + after;
}

async function plant(fault: Fault, copy: string, signal: AbortSignal): Promise<Finding> {
  const { id, file, tests } = fault;
  const path = join(copy, file);
  const source = await Bun.file(path).text();
  const faultySource = withFault(fault, source);
  const withIt = async (some: readonly string[]) => {
    await Bun.write(path, faultySource);
    return runTests(copy, some, signal).finally(() => Bun.write(path, source));
  };
  const unsound: string[] = [];
  while (unsound.length < tries) {
    const { passed, by, files } = await withIt(tests);
    if (passed) return { id, caught: false, why: `all pass in ${tests.join(", ")}` };
    // A test that fails by itself, or once because a busy machine was slow, has found nothing.
    const again = files.length > 0 ? files : tests;
    const isSound = (await runTests(copy, again, signal)).passed && !(await withIt(again)).passed;
    if (isSound) return { id, caught: true, by };
    unsound.push(by);
  }
  return { id, caught: false, why: `only what fails without it too: ${unsound.join("; ")}` };
}

type Outcome = { readonly passed: boolean; readonly by: string; readonly files: readonly string[] };

/** Runs these tests in order, the room's own before those that span it, up to the first failure. */
async function runTests(cwd: string, tests: readonly string[], signal: AbortSignal): Promise<Outcome> {
  for (const some of tests) {
    const outcome = await runSome(cwd, some, signal);
    if (!outcome.passed) return outcome;
  }
  return { passed: true, by: "", files: [] };
}

/** As `bun run test` runs them. */
const atOnce = ["--parallel=2", "--no-isolate"];

/** Runs test files in a separate process group, and kills what is left of the group. */
async function runSome(cwd: string, tests: string, signal: AbortSignal): Promise<Outcome> {
  signal.throwIfAborted();
  const argv = [process.execPath, "test", "--bail", "--timeout", String(testMs), ...atOnce, tests];
  const env = { ...process.env, NO_COLOR: "1", TEST_SWEEPS: "usual" };
  // A file, since processes that a test leaves behind would hold a pipe open.
  const log = Bun.file(join(cwd, "planted.log"));
  const runner = Bun.spawn(argv, { cwd, env, stdin: "ignore", stdout: "ignore", stderr: log, detached: true });
  const end = () => endGroup(runner.pid);
  const bounds = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  bounds.addEventListener("abort", end);
  try {
    const exitCode = await runner.exited;
    signal.throwIfAborted();
    return outcomeOf(bounds.aborted ? "" : await log.text(), exitCode);
  } finally {
    bounds.removeEventListener("abort", end);
    end();
  }
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** The first failure in the output of `bun test`: the test, and the file it is in. */
function outcomeOf(output: string, exitCode: number): Outcome {
  const lines = output.split("\n");
  const at = lines.findIndex((line) => line.startsWith("(fail) "));
  const file = lines.slice(0, Math.max(at, 0)).findLast((line) => /^\S+\.test\.ts:$/.test(line));
  const by = lines[at]?.slice("(fail) ".length) ?? "the tests did not run to their end";
  return { passed: exitCode === 0, by, files: file === undefined ? [] : [file.slice(0, -1)] };
}

/**
 * Copies the checkout including uncommitted changes, and installs its packages. Sandboxes of other
 * users may read it.
 */
async function copyCheckout(copy: string): Promise<void> {
  const list = Bun.spawn(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const files = (await new Response(list.stdout).text()).split("\0").filter((file) => file !== "");
  if ((await list.exited) !== 0 || files.length === 0) throw new Error("This is no git checkout.");
  await chmod(copy, 0o755);
  for (const file of files) {
    // A listed but missing file was removed without a commit.
    if (!existsSync(join(root, file))) continue;
    await cp(join(root, file), join(copy, file), { verbatimSymlinks: true });
  }
  const install = [process.execPath, "install", "--frozen-lockfile"];
  const installing = Bun.spawn(install, { cwd: copy, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await installing.exited) !== 0) throw new Error("The packages could not be installed.");
}

if (import.meta.main) {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort(new Error("Stopped.")));
  const [draw = [], ids = []] = [true, false].map((isDraw) =>
    process.argv.slice(2).filter((argument) => argument.endsWith(".json") === isDraw),
  );
  const known = draw[0] === undefined ? faults : await drawnFaults(root, draw[0]);
  const unknown = ids.find((id) => !known.some((fault) => fault.id === id));
  if (unknown !== undefined) throw new Error(`There is no fault ${unknown}.`);
  const planted = known.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const verdicts = await plantAll(planted, console.log, stop.signal);
  const caught = verdicts.filter((verdict) => verdict.caught).length;
  console.log(`${caught} of ${verdicts.length} caught, ${Math.floor((100 * caught) / verdicts.length)} %`);
  process.exitCode = caught >= enough * verdicts.length ? 0 : 1;
}
