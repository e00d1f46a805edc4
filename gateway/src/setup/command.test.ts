import { expect, test } from "bun:test";
import { runProgram } from "./command.ts";

test("a command that does not end is ended at its deadline, without an exit code", async () => {
  const began = performance.now();
  const argv = ["/bin/sh", "-c", "echo begun; exec sleep 600"];
  expect(await runProgram(argv, { cwd: "/", timeoutMs: 200 })).toEqual({ exitCode: null, output: "begun" });
  expect(performance.now() - began).toBeLessThan(60_000);
});

test("of a command's outputs the end is kept, with its exit code", async () => {
  const argv = ["/bin/sh", "-c", 'seq 2000; echo "$NAME" >&2; exit 3'];
  const { exitCode, output } = await runProgram(argv, { cwd: "/", timeoutMs: 60_000, env: { NAME: "end" } });
  expect([exitCode, output.length, output.endsWith("1999\n2000\nend")]).toEqual([3, 4_000, true]);
});

test("a command is over when it ends, though what it started holds its output open", async () => {
  const began = performance.now();
  const endings = [["exit 3", 3] as const, ["wait", null] as const];
  const ending = endings.map(async ([last, exitCode]) => {
    const argv = ["/bin/sh", "-c", `sleep 30 & echo $!; ${last}`];
    const outcome = await runProgram(argv, { cwd: "/", timeoutMs: 200 });
    process.kill(Number(outcome.output));
    expect(outcome.exitCode).toBe(exitCode);
  });
  await Promise.all(ending);
  expect(performance.now() - began).toBeLessThan(25_000);
});
