import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { availableTiers, eventually, type OpenTier, openTier, processesNamed } from "../../testing/sandbox/tiers.ts";
import { bytesInWords, defaultLimits, limitFromExitCode } from "./limits.ts";
import { type CommandOutcome, runCommand } from "./run-command.ts";
import type { SandboxLimits } from "./sandbox.ts";

const tiers = await availableTiers();
const megabyte = 2 ** 20;

test("sizes are written in words", () => {
  expect([0, 1, 1023, 1024, 1536, 50 * megabyte, 2 ** 31, 2 ** 41].map(bytesInWords)).toEqual([
    "0 bytes",
    "1 bytes",
    "1023 bytes",
    "1 kB",
    "1.5 kB",
    "50 MB",
    "2 GB",
    "2048 GB",
  ]);
});

test.each([
  [0, undefined],
  [1, undefined],
  [137, undefined],
  [152, "CPU time 60 s"],
  [153, "file size 1 GB"],
])("the exit code %d says that the bound was hit: %p", (exitCode, limit) => {
  expect(limitFromExitCode(exitCode, defaultLimits)).toBe(limit);
});

test("a command that sets no bounds has two minutes, one of processor time, 2 GB, 256 processes and 50 MB of output", () => {
  expect(defaultLimits).toEqual({
    wallMs: 120_000,
    cpuSeconds: 60,
    memoryBytes: 2 ** 31,
    processes: 256,
    fileBytes: 2 ** 30,
    outputBytes: 50 * megabyte,
  });
});

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  // Appears in the command line of everything an attack leaves behind.
  const mark = `9${Math.floor(Math.random() * 1e9)}`;
  const attack = (script: string, limits: Partial<SandboxLimits>, signal = AbortSignal.timeout(60_000)) =>
    runCommand(open.sandbox, { argv: ["bash", "-c", script], workspace: open.workspace, limits }, { signal });
  const leavesNothing = () => eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);

  beforeAll(async () => {
    open = await openTier(tier);
  });
  afterAll(() => open.close());

  test("a fork bomb stays within its number of processes and ends with its time", async () => {
    // Ends by itself after some seconds, in case the limit does not hold on this machine.
    const outcome = await attack(`bomb() { ((SECONDS < 4)) && bomb | bomb & }; bomb 2>/dev/null; sleep ${mark}`, {
      wallMs: 1000,
      processes: 64,
    });
    expect(outcome.limit).toBe("wall time 1 s");
    expect(outcome.milliseconds).toBeLessThan(30_000);
    await leavesNothing();
  });

  test("processes beside a command do not reduce the number it may have", async () => {
    const threads = `import os, threading as t, time
over = t.Event()
for _ in range(150): t.Thread(target=over.wait).start()
print("all run", flush=True)
while not os.path.exists("over"): time.sleep(0.02)
over.set()`;
    const started = Promise.withResolvers<void>();
    // Where a bound counts all of a user, what other tests run counts too; this one's is not tried.
    const limits = { processes: 2_000 };
    const beside = runCommand(
      open.sandbox,
      { argv: ["python3", "-c", threads], workspace: open.workspace, limits },
      { signal: AbortSignal.timeout(60_000), onOutput: () => started.resolve() },
    );
    await Promise.race([started.promise, beside]);
    const outcome = await attack("(:) && echo begun", { processes: 64 });
    await Bun.write(join(open.workspace, "over"), "");
    expect([outcome.stdout, outcome.stderr]).toEqual(["begun\n", ""]);
    expect((await beside).stdout).toBe("all run\n");
  });

  test("an allocation of 10 GB fails or is killed", async () => {
    const script = "exec python3 -c 'x = b\"1\" * (10 * 2 ** 30); print(len(x))'";
    const outcome = await attack(script, { memoryBytes: 256 * megabyte, wallMs: 10_000 });
    expect(outcome.stdout).toBe("");
    expect(outcome.exitCode).not.toBe(0);
    expect(outcome.limit ?? outcome.stderr).toMatch(/^memory 256 MB$|MemoryError/);
  });

  test("memory shared among processes is summed, if the sandbox says so", async () => {
    if (!open.sandbox.description.includes("by control group")) return;
    const each = "python3 -c 'x = b\"1\" * (100 * 2 ** 20); import time; time.sleep(2)' & ";
    const outcome = await attack(`${each.repeat(4)} wait`, { memoryBytes: 256 * megabyte, wallMs: 15_000 });
    expect(outcome.limit).toBe("memory 256 MB");
  });

  test("commands and sessions of a conversation share one limit, another conversation has its own", async () => {
    const small = await openTier(tier === "srt" ? "bwrap" : tier, { limits: { memoryBytes: 400 * megabyte } });
    const other = await small.folder("other");
    const hold = (megabytes: number, workspace: string) => {
      const text = `x = b"1" * (${megabytes} * 2 ** 20); import time; time.sleep(4); print("held")`;
      const command = { argv: ["python3", "-c", text], workspace, limits: { memoryBytes: 2 ** 30, processes: 4096 } };
      return runCommand(small.sandbox, command, { signal: AbortSignal.timeout(60_000) });
    };
    try {
      const [neighbour, ...together] = await Promise.all([
        hold(250, other),
        ...[1, 2, 3, 4].map(() => hold(150, small.workspace)),
      ]);
      expect(neighbour).toMatchObject({ stdout: "held\n" });
      expect(neighbour?.limit).toBeUndefined();
      const [held, ended] = [together.filter(({ exitCode }) => exitCode === 0), together.filter(({ limit }) => limit)];
      expect([held.length, ended.length]).toEqual([2, 2]);
      for (const { limit, stdout } of ended)
        expect([limit, stdout]).toEqual(["memory 400 MB of all commands of the conversation together", ""]);
      // A bound that was hit once does not stay hit.
      expect(await hold(150, small.workspace)).toMatchObject({ stdout: "held\n", exitCode: 0 });
    } finally {
      await small.close();
    }
  });

  test("a loop ends at its limit of processor time", async () => {
    const outcome = await attack("while :; do :; done", { cpuSeconds: 1, wallMs: 50_000 });
    expect(outcome.limit).toBe("CPU time 1 s");
  });

  test("endless output is cut to head and tail, and costs the server no memory", async () => {
    const before = process.memoryUsage().rss;
    const outcome: CommandOutcome = await attack("yes", { outputBytes: 20 * megabyte, wallMs: 50_000 });
    expect(outcome.limit).toBe("output 20 MB");
    expect(outcome.stdout.length).toBeLessThan(70_000);
    expect(outcome.stdout).toContain("bytes left out");
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * megabyte);
  });

  test.each([
    ["standard error", "yes >&2"],
    ["both outputs together", "yes & yes >&2; wait"],
  ])("endless output on %s is cut off too", async (_, script) => {
    const outcome = await attack(script, { outputBytes: 2 * megabyte, wallMs: 10_000 });
    expect(outcome.limit).toBe("output 2 MB");
    expect(outcome.stderr.length).toBeLessThan(70_000);
    expect(outcome.cut).toBe(true);
  });

  test("a file stops growing at its size limit", async () => {
    const outcome = await attack("exec cat /dev/zero > big", { fileBytes: 8 * megabyte, wallMs: 8000 });
    expect(outcome.limit).toBe("file size 8 MB");
    expect((await stat(join(open.workspace, "big"))).size).toBe(8 * megabyte);
  });

  test.each([
    ["a job in the background", `sleep ${mark} & echo started`],
    ["a daemon in a session of its own", `setsid -f sleep ${mark}; echo started`],
    ["an orphan without an environment", `(env -i setsid sleep ${mark} >/dev/null 2>&1 &); echo started`],
  ])("%s does not outlive its command", async (_, script) => {
    const { stdout, exitCode } = await attack(script, { wallMs: 5000 });
    expect([stdout, exitCode]).toEqual(["started\n", 0]);
    await leavesNothing();
  });

  test("a process whose first thread has ended does not outlive its command", async () => {
    const hide = `import ctypes, fcntl, threading, time
library = ctypes.CDLL(None)
first = ctypes.c_ulong(threading.get_ident())
held = open("held", "w")
fcntl.flock(held, fcntl.LOCK_EX)
def stay():
    library.pthread_join(first, None)
    open("hidden", "w").close()
    time.sleep(60)
threading.Thread(target=stay).start()
library.pthread_exit(None)`;
    await Bun.write(join(open.workspace, "hide.py"), hide);
    const script = "python3 hide.py >/dev/null 2>&1 & until [ -e hidden ]; do sleep 0.05; done; echo started";
    const { stdout, exitCode } = await attack(script, { wallMs: 20_000 });
    expect([stdout, exitCode]).toEqual(["started\n", 0]);
    const isFree = () => Bun.spawn(["flock", "--nonblock", join(open.workspace, "held"), "true"]).exited;
    await eventually("its lock is free", async () => (await isFree()) === 0);
  });

  test("a command that ignores every polite signal ends with its time", async () => {
    const { limit, milliseconds } = await attack(`trap '' TERM INT HUP; sleep ${mark}; sleep ${mark}`, { wallMs: 500 });
    expect(limit).toBe("wall time 0.5 s");
    expect(milliseconds).toBeLessThan(30_000);
    await leavesNothing();
  });

  test("an abort kills everything, keeps the output, and rejects with its own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("canceled by the person");
    let heard = "";
    const running = runCommand(
      open.sandbox,
      {
        argv: ["bash", "-c", `trap '' TERM; setsid -f sleep ${mark}; echo begun; sleep ${mark}`],
        workspace: open.workspace,
      },
      {
        signal: controller.signal,
        onOutput(_, bytes) {
          heard += Buffer.from(bytes).toString();
          controller.abort(reason);
        },
      },
    );
    const started = performance.now();
    expect(await running.catch((error) => error)).toBe(reason);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(heard).toBe("begun\n");
    await leavesNothing();
  });

  test("closing the sandbox ends running commands, and refuses later ones", async () => {
    const other = await openTier(tier === "srt" ? "bwrap" : tier);
    const { exited } = await other.sandbox.spawn({ argv: ["sleep", mark], workspace: other.workspace });
    const preparing = other.sandbox.spawn({ argv: ["sleep", mark], workspace: other.workspace });
    let hasExited = false;
    void exited.finally(() => {
      hasExited = true;
    });
    await other.close();
    expect(hasExited).toBe(true);
    expect(await exited).toBeGreaterThan(128);
    expect(await (await preparing).exited).toBeGreaterThan(128);
    await leavesNothing();
    const late = other.sandbox.spawn({ argv: ["true"], workspace: "/" });
    expect(await late.catch((error) => error.code)).toBe("sandbox_unavailable");
  });

  test("concurrent commands in one workspace each keep their temporary folder until they end", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, index) => attack(`sleep 0.${index}; touch "$TMPDIR/${index}" && echo kept`, {})),
    );
    expect(outcomes.map(({ stdout, stderr }) => [stdout, stderr])).toEqual(outcomes.map(() => ["kept\n", ""]));
  });

  test("all that a command wrote arrives, though it ends at once", async () => {
    let heard = 0;
    await runCommand(
      open.sandbox,
      { argv: ["head", "-c", "6000000", "/dev/zero"], workspace: open.workspace },
      { signal: AbortSignal.timeout(60_000), onOutput: (_, bytes) => (heard += bytes.length) },
    );
    expect(heard).toBe(6_000_000);
  });

  test("a command cannot raise its bound on the size of a file", async () => {
    const { stdout } = await attack("ulimit -f 16384 2>/dev/null; ulimit -Sf; ulimit -Hf", { fileBytes: 8 * megabyte });
    expect(stdout).toBe("8192\n8192\n");
  });

  test("exit codes, both outputs and the input arrive unchanged", async () => {
    const outcome = await runCommand(
      open.sandbox,
      { argv: ["bash", "-c", "cat; printf err >&2; exit 7"], workspace: open.workspace },
      { signal: AbortSignal.timeout(60_000), input: "in" },
    );
    expect(outcome).toMatchObject({ exitCode: 7, stdout: "in", stderr: "err", cut: false });
    expect(await attack("kill -9 $$", {})).toMatchObject({ exitCode: 137 });
  });
});
