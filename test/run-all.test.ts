import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCounts } from "./runner/test-counts.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

type Run = { exitCode: number; lastLine: string | undefined };

/** Runs the runner over one test file. */
async function run(source: string | undefined, name?: string): Promise<Run> {
  const { exitCode, lines } = await shown(source, name);
  return { exitCode, lastLine: lines.at(-1) };
}

/** Runs the runner over one test file; returns its exit code and the lines it ends with. */
async function shown(source: string | undefined, name = "a.test.ts"): Promise<{ exitCode: number; lines: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-runner-"));
  folders.push(folder);
  if (source !== undefined) await writeFile(join(folder, name), `import { expect, test } from "bun:test";\n${source}`);
  const runner = Bun.spawn([process.execPath, join(import.meta.dir, "run-all.ts")], {
    cwd: folder,
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = await runner.stdout.text();
  return { exitCode: await runner.exited, lines: output.trimEnd().split("\n") };
}

test("a good run ends with its counts and exit code 0", async () => {
  expect(await run('test("a", () => {}); test("b", () => {});')).toEqual({
    exitCode: 0,
    lastLine: "2 passed, 0 failed",
  });
});

test("a failed test is counted and gives exit code 1", async () => {
  const outcome = await run('test("a", () => {}); test("b", () => { expect(1).toBe(2); });');
  expect(outcome).toEqual({ exitCode: 1, lastLine: "1 passed, 1 failed" });
});

const onlyLater = `import { existsSync, writeFileSync } from "node:fs";
test("kept", () => {});
test("missed its time", () => {
  const isLater = existsSync("once");
  writeFileSync("once", "");
  expect(isLater).toBe(true);
});`;

test("a test that passes alone counts as passed, except where one in a hundred is what it looks for", async () => {
  expect(await run(onlyLater)).toEqual({ exitCode: 0, lastLine: "2 passed, 0 failed" });
  expect(await run(onlyLater, "skills.test.ts")).toEqual({ exitCode: 0, lastLine: "2 passed, 0 failed" });
  for (const name of ["crashes.test.ts", "flow-kills.test.ts"])
    expect(await run(onlyLater, name)).toEqual({ exitCode: 1, lastLine: "1 passed, 1 failed" });
  const both = `${onlyLater}\ntest("wrong", () => expect(1).toBe(2));`;
  expect(await run(both)).toEqual({ exitCode: 1, lastLine: "2 passed, 1 failed" });
});

test("what failed in the end is told with its error above the counts, and what passed alone is not", async () => {
  const { lines } = await shown(`${onlyLater}\ntest("wrong", () => expect('1 < "2"').toBe("&"));`);
  const told = lines.slice(lines.indexOf("Failed:")).filter((line) => line !== "");
  expect(told.slice(1, 5).map((line) => line.trim())).toEqual([
    "a.test.ts: wrong",
    "AssertionError: expect(received).toBe(expected)",
    'Expected: "&"',
    'Received: "1 < "2""',
  ]);
  expect(told.at(-1)).toBe("2 passed, 1 failed");
});

test("a machine that stood still while tests failed is told of", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-runner-"));
  folders.push(folder);
  await writeFile(
    join(folder, "crashes.test.ts"),
    `import { expect, test } from "bun:test";
test("late", async () => {
  process.kill(process.ppid, "SIGSTOP");
  await Bun.sleep(4_000);
  process.kill(process.ppid, "SIGCONT");
  await Bun.sleep(500);
  expect(1).toBe(2);
}, 30_000);`,
  );
  const runner = Bun.spawn([process.execPath, join(import.meta.dir, "run-all.ts"), "./crashes.test.ts"], {
    cwd: folder,
    stdout: "pipe",
    stderr: "ignore",
  });
  expect(await runner.stdout.text()).toMatch(/The machine stood still for [34]\.\d s, \d\.\d s after the start\./);
});

test("the slowest files start first, and are written anew on request", async () => {
  const root = await mkdtemp(join(tmpdir(), "manyhands-runner-"));
  folders.push(root);
  const source = `import { test } from "bun:test";
test("a", async () => {
  await Bun.write(import.meta.path + ".began", String(performance.timeOrigin + performance.now()));
  await Bun.sleep(import.meta.path.includes("slow") ? 2_100 : 200);
});`;
  const files = [..."abcdefghij"].map((name) => `test/${name}.test.ts`).concat("test/slow.test.ts");
  for (const file of files) await Bun.write(join(root, file), source);
  const kept = join(root, "test/runner/timings.json");
  await Bun.write(
    kept,
    JSON.stringify({ version: 1, files: { "test/slow.test.ts": 9_000, "test/gone.test.ts": 3_000 } }),
  );
  const runner = Bun.spawn([process.execPath, join(import.meta.dir, "run-all.ts"), "--update-timings"], {
    cwd: root,
    stdout: "ignore",
    stderr: "ignore",
  });
  expect(await runner.exited).toBe(0);
  const began = await Promise.all(
    files.map((file) =>
      Bun.file(join(root, `${file}.began`))
        .text()
        .then(Number),
    ),
  );
  const isEarlier = began.filter((at) => at < (began.at(-1) ?? 0));
  // Six begin at the same time.
  expect(isEarlier.length).toBeLessThan(6);
  const { version, files: written } = await Bun.file(kept).json();
  expect([version, written["test/slow.test.ts"] >= 2_000, "test/gone.test.ts" in written]).toEqual([1, true, false]);
});

test("a file that does not load, a crash and an empty folder count as failures", async () => {
  const [unloadable, crash, empty] = await Promise.all([
    run('import "./absent.ts"; test("a", () => {});'),
    run('test("a", () => { process.kill(process.pid, "SIGKILL"); });'),
    run(undefined),
  ]);
  for (const outcome of [unloadable, crash, empty])
    expect(outcome).toEqual({ exitCode: 1, lastLine: "0 passed, 1 failed" });
});

test("the last summary counts, with or without colours", () => {
  expect(testCounts(" 9 pass\n 9 fail\n\x1b[32m 3 pass\x1b[0m\n\x1b[2m 0 fail\x1b[0m\n", 0)).toEqual({
    passed: 3,
    failed: 0,
  });
});
