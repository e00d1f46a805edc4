import { expect, spyOn, test } from "bun:test";
import { processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { outcomeOf, runCommand } from "./run-command.ts";
import type { Sandbox, SandboxCommand } from "./sandbox.ts";

const never = new AbortController().signal;

test("the outcome holds both outputs, the exit code and no limit; the input is written and closed", async () => {
  const byHand = processByHand();
  const heard: string[] = [];
  const outcome = outcomeOf(byHand.process, {
    signal: never,
    input: "in",
    onOutput: (stream, bytes) => void heard.push(`${stream} ${new TextDecoder().decode(bytes)}`),
  });
  byHand.says("stdout", "one");
  byHand.says("stderr", "bad");
  byHand.exits(3);
  expect(await outcome).toEqual({
    exitCode: 3,
    stdout: "one",
    stderr: "bad",
    cut: false,
    milliseconds: expect.any(Number),
  });
  expect(heard.toSorted()).toEqual(["stderr bad", "stdout one"]);
  expect(byHand.done).toEqual(["write in", "end"]);
});

test.each([
  [["x".repeat(6), "y".repeat(4)], undefined],
  [["x".repeat(6), "y".repeat(5)], "output 10 bytes"],
  [["x".repeat(11), ""], "output 10 bytes"],
  [["", "y".repeat(11)], "output 10 bytes"],
] as const)("both outputs together may be as long as the limit, not longer: %j", async ([out, err], limit) => {
  const byHand = processByHand({ limits: { outputBytes: 10 } });
  const outcome = outcomeOf(byHand.process, { signal: never });
  if (out !== "") byHand.says("stdout", out);
  if (err !== "") byHand.says("stderr", err);
  if (limit === undefined) byHand.exits(0);
  expect((await outcome).limit).toBe(limit);
  expect(byHand.done.filter((what) => what === "kill")).toHaveLength(limit === undefined ? 0 : 1);
});

test("what comes after the limit is neither kept nor heard, and the first limit is the one reported", async () => {
  const heard: string[] = [];
  const byHand = processByHand({
    limits: { outputBytes: 4, wallMs: 20 },
    limitHit: "memory 2 GB",
    on: (what, { says }) => {
      if (what === "kill") says("stdout", "late");
    },
  });
  const outcome = outcomeOf(byHand.process, {
    signal: never,
    onOutput: (_, bytes) => void heard.push(new TextDecoder().decode(bytes)),
  });
  byHand.says("stdout", "12345");
  expect(await outcome).toMatchObject({ exitCode: 137, stdout: "12345", limit: "output 4 bytes" });
  expect(heard).toEqual(["12345"]);
});

test("the wall time kills, and is reported instead of what the process says of itself", async () => {
  const byHand = processByHand({ limits: { wallMs: 20 }, limitHit: "CPU time 60 s" });
  expect(await outcomeOf(byHand.process, { signal: never })).toMatchObject({
    exitCode: 137,
    limit: "wall time 0.02 s",
  });
  const itself = processByHand({ limitHit: "CPU time 60 s" });
  itself.exits(152);
  expect(await outcomeOf(itself.process, { signal: never })).toMatchObject({ exitCode: 152, limit: "CPU time 60 s" });
});

test.each([
  [65_536, 0, false],
  [65_537, 0, true],
  [0, 65_537, true],
])("%d bytes of standard output and %d of errors are cut: %p", async (out, err, cut) => {
  const byHand = processByHand();
  const outcome = outcomeOf(byHand.process, { signal: never });
  byHand.says("stdout", "x".repeat(out));
  byHand.says("stderr", "y".repeat(err));
  byHand.exits(0);
  expect((await outcome).cut).toBe(cut);
});

test("an abort kills, before the start and in the middle, and rejects with its reason", async () => {
  const reason = new Error("given up");
  const early = processByHand();
  await expect(outcomeOf(early.process, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(early.done).toContain("kill");

  const stopping = new AbortController();
  const heard: string[] = [];
  const byHand = processByHand({
    on: (what, { says }) => {
      if (what === "kill") says("stdout", "late");
    },
  });
  const outcome = outcomeOf(byHand.process, {
    signal: stopping.signal,
    onOutput: (_, bytes) => void heard.push(new TextDecoder().decode(bytes)),
  });
  byHand.says("stdout", "early");
  await Bun.sleep(0);
  stopping.abort(reason);
  await expect(outcome).rejects.toBe(reason);
  expect(heard).toEqual(["early"]);
});

test("after its end neither the abort nor the wall time reaches the process", async () => {
  const stopping = new AbortController();
  const byHand = processByHand({ limits: { wallMs: 30 } });
  const outcome = outcomeOf(byHand.process, { signal: stopping.signal });
  byHand.exits(0);
  await outcome;
  stopping.abort();
  await Bun.sleep(60);
  expect(byHand.done).not.toContain("kill");
});

test("a command whose output something holds open has its outcome all the same", async () => {
  const { sleep } = Bun;
  using _ = spyOn(Bun, "sleep").mockImplementation((ms) => sleep(Number(ms) / 50));
  const byHand = processByHand();
  const outcome = outcomeOf(byHand.process, { signal: never });
  byHand.says("stdout", "all of it");
  byHand.exits(0, "open");
  expect(await outcome).toMatchObject({ exitCode: 0, stdout: "all of it" });
});

test("what a command wrote last is read although its end was known first", async () => {
  const byHand = processByHand();
  const outcome = outcomeOf(byHand.process, { signal: never });
  byHand.exits(0, "open");
  await Bun.sleep(5);
  byHand.says("stdout", "last words");
  byHand.exits(0);
  expect(await outcome).toMatchObject({ stdout: "last words" });
});

test("a command that was given up before is not started", async () => {
  const started: SandboxCommand[] = [];
  const sandbox: Pick<Sandbox, "spawn"> = {
    async spawn(command) {
      started.push(command);
      const { process, exits } = processByHand();
      exits(0);
      return process;
    },
  };
  const command = { argv: ["true"], workspace: "/w" };
  const reason = new Error("given up");
  await expect(runCommand(sandbox, command, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(started).toEqual([]);
  expect(await runCommand(sandbox, command, { signal: never })).toMatchObject({ exitCode: 0 });
  expect(started).toEqual([command]);
});
