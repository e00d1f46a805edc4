import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { withinTrace } from "../../core/trace.ts";
import { descendants, isRunning, readProcessTable, sendSignal, startOf } from "../../machine/kernel/process-table.ts";
import { outcomeOf, runCommand } from "../../machine/sandbox/run-command.ts";
import { availableTiers, eventually, type OpenTier, openTier } from "../../testing/sandbox/tiers.ts";
import { pythonCommand } from "./python-session.ts";
import type { ProgramBounds } from "./warm-interpreter.ts";
import { createWarmInterpreters, type WarmInterpreters } from "./warm-interpreters.ts";

const hasBwrap = (await availableTiers()).includes("bwrap");
const usual: ProgramBounds = { wallMs: 60_000, cpuSeconds: 60 };

let open: OpenTier;
let warm: WarmInterpreters;
let workspace: string;
let count = 0;
beforeAll(async () => {
  open = await openTier(hasBwrap ? "bwrap" : "off", { limits: { memoryBytes: 256 * 2 ** 20 } });
  warm = createWarmInterpreters(open.sandbox);
});
afterAll(async () => {
  await warm.close();
  await open.close();
});
beforeEach(async () => {
  workspace = await open.folder(`conversation-${count++}`);
});

async function outcome(code: string, bounds: Partial<ProgramBounds> = {}) {
  const begin = () => warm.begin(workspace, code, { ...usual, ...bounds });
  // One that is ending while it is asked leaves the program to another.
  const running = (await begin()) ?? (await begin());
  if (running === undefined) throw new Error("no interpreter was warm");
  return outcomeOf(running, { signal: AbortSignal.timeout(60_000) });
}
const python = async (code: string) => {
  const { stdout, stderr } = await outcome(code);
  return stdout + stderr;
};
async function coldly(code: string): Promise<string> {
  const command = await pythonCommand("once", workspace);
  const options = { signal: AbortSignal.timeout(60_000), input: code };
  const { stdout, stderr } = await runCommand(open.sandbox, command, options);
  return stdout + stderr;
}
/** The interpreter a program runs in, and the program's number there. */
/**
 * An interpreter is known by when its first process started; the kernel reuses a namespace's
 * number.
 */
const whereabouts = async () => {
  const [interpreter = "", pid] = (
    await python("import os; print(open('/proc/1/stat').read().split()[21], os.getpid())")
  ).split(" ");
  return { interpreter, pid: Number(pid) };
};
const ours = () => descendants(readProcessTable(), process.pid);

test.skipIf(!hasBwrap)("the programs of a conversation share an interpreter, and each is one process", async () => {
  const [first, second, third] = [await whereabouts(), await whereabouts(), await whereabouts()];
  expect(second).toEqual({ interpreter: first.interpreter, pid: first.pid + 1 });
  expect(third).toEqual({ interpreter: first.interpreter, pid: first.pid + 2 });
});

const circumstances = `
import os, resource, signal, sys, threading
for name in sorted(os.environ): print(name, os.environ[name])
print(os.getcwd(), os.umask(0o22), os.listdir("/proc/self/fd"), sys.path, sys.argv, sys.flags, sys.dont_write_bytecode)
print([(s.encoding, s.errors, s.isatty(), s.write_through) for s in (sys.stdin, sys.stdout, sys.stderr)])
print(sys.stdin.read(), [signal.getsignal(n) for n in range(1, 32)], signal.pthread_sigmask(signal.SIG_BLOCK, []))
print([(name, resource.getrlimit(getattr(resource, name))) for name in dir(resource) if name.startswith("RLIMIT_")])
print(os.getuid(), os.getgroups(), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0), threading.active_count())
print(__name__, sorted(globals()), os.listdir("/tmp"), os.listdir("/dev/shm"), os.access("/proc/self/environ", os.R_OK))
def cause(): return 1 / 0
print([line for line in open("/proc/self/status") if line.startswith(("Cap", "NoNewPrivs", "Sig", "Seccomp:"))])
print("here", file=sys.stderr)
cause()
`;

test.skipIf(!hasBwrap)("a program finds what it finds in a new interpreter", async () => {
  const { cpuSeconds } = usual;
  const cold = (await coldly(circumstances)).replace(/'RLIMIT_CPU', \(\d+, \d+\)/, `'RLIMIT_CPU', (${cpuSeconds}, 61)`);
  await python("import json, os, sys; sys.path.append('/x'); os.chdir('/'); os.environ['X'] = 'y'; os.umask(0)");
  expect(await python(circumstances)).toBe(cold);
});

test.skipIf(!hasBwrap)("what ends with a program ends as in a new interpreter", async () => {
  const code = `
import atexit, threading, time
atexit.register(print, "at exit")
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
kept = open("kept.txt", "w")
kept.write("never closed")
class Last:
    def __del__(self): print("deleted")
last = Last()
`;
  expect(await python(code)).toBe("thread\nat exit\ndeleted\n");
  expect(await Bun.file(join(workspace, "kept.txt")).text()).toBe("never closed");
});

test.skipIf(!hasBwrap)("packages that a program installs into its home are there for the next", async () => {
  const install = `
import os, site
os.makedirs(site.getusersitepackages())
open(site.getusersitepackages() + "/installed.py", "w").write("answer = 42")
open(site.getusersitepackages() + "/usercustomize.py", "w").write("print('customized')")`;
  expect(await python(install)).toBe("");
  const use = "import installed, sys; print(installed.answer, [p.startswith('/usr/local/lib') for p in sys.path])";
  expect(await python(use)).toBe(await coldly(use));
});

test.skipIf(!hasBwrap)("a program that runs beside another has no part of its interpreter", async () => {
  const one = await warm.begin(workspace, "import time; time.sleep(60)", usual);
  expect(await warm.begin(workspace, "print(2)", usual)).toBeUndefined();
  one?.kill();
  await one?.exited;
  expect(await python("print(3)")).toBe("3\n");
});

test.skipIf(!hasBwrap)("each program has its own bounds, and the next one runs after any of them", async () => {
  expect(await outcome("while True: pass", { cpuSeconds: 1 })).toMatchObject({
    exitCode: 152,
    limit: "CPU time 1 s",
  });
  expect(await outcome("import time\ntime.sleep(60)", { wallMs: 300 })).toMatchObject({
    exitCode: 137,
    limit: "wall time 0.3 s",
  });
  expect(await outcome("while True: print('x' * 100_000)")).toMatchObject({ exitCode: 137, limit: "output 50 MB" });
  expect(await outcome("open('f', 'w').truncate(2 ** 31)")).toMatchObject({ exitCode: 1 });
  const large = await outcome("x = bytearray(b'1' * 2 ** 30)");
  expect(`${large.stdout} ${large.limit}`).toMatch(/MemoryError|memory 256 MB/);
  expect(await outcome("import os; os.kill(os.getpid(), 11)")).toMatchObject({ exitCode: 139 });
  expect(await python("print('next')")).toBe("next\n");
});

test.skipIf(!hasBwrap)("each program is told the trace that it belongs to", async () => {
  const code = "import os; print(os.environ.get('TRACEPARENT'))";
  const trace = (span: string) => ({ traceparent: `00-${"1".repeat(32)}-${span.repeat(16)}-01` });
  expect((await outcome(code)).stdout).toBe("None\n");
  for (const span of ["2", "3"]) {
    const { stdout } = await withinTrace(trace(span), () => outcome(code));
    expect(stdout).toBe(`${trace(span).traceparent}\n`);
  }
  expect((await outcome(code)).stdout).toBe("None\n");
});

test.skipIf(!hasBwrap)("after an interpreter was killed the next program starts another", async () => {
  const before = await whereabouts();
  for (const pid of ours()) sendSignal(pid, "SIGKILL");
  // A program that asks for it while it dies is left to a process of its own.
  await eventually("another has been started", async () => {
    const running = await warm.begin(workspace, "print('again')", usual);
    return (
      running !== undefined && (await outcomeOf(running, { signal: AbortSignal.timeout(60_000) })).stdout === "again\n"
    );
  });
  expect((await whereabouts()).interpreter).not.toBe(before.interpreter);
});

test.skipIf(!hasBwrap)(
  "an interpreter that does not answer is given up, and the next program starts another",
  async () => {
    const others = new Set(ours());
    expect(await python("print('before')")).toBe("before\n");
    const stopped = ours().filter((pid) => !others.has(pid));
    for (const pid of stopped) sendSignal(pid, "SIGSTOP");
    expect(await warm.begin(workspace, "open('ran', 'w')", usual)).toBeUndefined();
    expect(ours().filter((pid) => stopped.includes(pid))).toEqual([]);
    expect(await python("import os; print(os.path.exists('ran'))")).toBe("False\n");
  },
);

test.skipIf(!hasBwrap)("an interpreter sees names that were made meanwhile as a new one would", async () => {
  const before = await whereabouts();
  await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
  const { stdout } = await outcome("open('.git/hooks/pre-commit', 'w')");
  expect(stdout).toContain("Read-only file system");
  expect((await whereabouts()).interpreter).not.toBe(before.interpreter);
});

test.skipIf(!hasBwrap)(
  "a resting interpreter leaves the names to others, and its placeholders go with it",
  async () => {
    const before = await whereabouts();
    await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
    const argv = ["touch", ".git/hooks/pre-commit"];
    const { stderr } = await runCommand(open.sandbox, { argv, workspace }, { signal: AbortSignal.timeout(60_000) });
    expect(stderr).toContain("Read-only file system");
    expect((await whereabouts()).interpreter).not.toBe(before.interpreter);
    await warm.release(workspace);
    const names = [...new Bun.Glob("*").scanSync({ cwd: workspace, dot: true, onlyFiles: false })];
    expect(names).toEqual([".git"]);
    expect(await Bun.file(`${workspace}.pins`).exists()).toBe(false);
  },
);

test.skipIf(!hasBwrap)("an interpreter that is released while it starts runs no program, and ends", async () => {
  const others = new Set(ours());
  const beginning = warm.begin(workspace, "open('ran', 'w')", usual);
  await warm.release(workspace);
  expect(await beginning).toBeUndefined();
  expect(ours().filter((pid) => !others.has(pid))).toEqual([]);
  expect(await python("import os; print(os.path.exists('ran'))")).toBe("False\n");
});

test.skipIf(!hasBwrap)("interpreters end when they are released, idle, too many, or closed", async () => {
  await warm.close();
  expect(ours()).toEqual([]);
  const run = async (pool: WarmInterpreters, folder: string) => {
    const running = await pool.begin(await open.folder(folder), "print(1)", usual);
    return running && outcomeOf(running, { signal: AbortSignal.timeout(60_000) });
  };
  const few = createWarmInterpreters(open.sandbox, { most: 1 });
  await run(few, "one");
  const one = ours();
  expect(one).not.toBeEmpty();
  await run(few, "two");
  expect(one.filter((pid) => ours().includes(pid))).toEqual([]);
  await few.release(await open.folder("two"));
  expect(ours()).toEqual([]);
  await run(few, "three");
  await few.close();
  expect(ours()).toEqual([]);
  const brief = createWarmInterpreters(open.sandbox, { idleMs: 50 });
  await run(brief, "four");
  await eventually("the idle one has ended", () => ours().length === 0);
  expect(await run(brief, "four")).toMatchObject({ stdout: "1\n" });
  await brief.close();
});

test.skipIf(!hasBwrap)("a program may run for longer than an interpreter may be idle", async () => {
  const brief = createWarmInterpreters(open.sandbox, { idleMs: 2_000 });
  const run = async (code: string) => {
    const running = await brief.begin(workspace, code, usual);
    return running && outcomeOf(running, { signal: AbortSignal.timeout(60_000) });
  };
  await run("print(1)");
  expect(await run("import time; time.sleep(3); print(2)")).toMatchObject({ exitCode: 0, stdout: "2\n" });
  await brief.close();
});

test.skipIf(!hasBwrap)("the interpreter of a killed server ends with it", async () => {
  const script = join(import.meta.dir, "../../testing/sandbox/warm-process.ts");
  const server = Bun.spawn([process.execPath, script, join(workspace, ".."), workspace], { stdout: "pipe" });
  const { value } = await server.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("resting\n");
  const left = descendants(readProcessTable(), server.pid).map((pid) => ({ pid, startedAt: startOf(pid) }));
  expect(left.length).toBeGreaterThan(1);
  server.kill("SIGKILL");
  await server.exited;
  await eventually("its processes are gone", () => !left.some(({ pid, startedAt }) => isRunning(pid, startedAt)));
});

test.skipIf(!hasBwrap)(
  "an interpreter that cannot keep itself private runs nothing, and is not tried again",
  async () => {
    const tampered = {
      ...open.sandbox,
      spawn: (command: Parameters<typeof open.sandbox.spawn>[0]) => {
        starts += 1;
        return open.sandbox.spawn({ ...command, first: false });
      },
    };
    let starts = 0;
    const unable = createWarmInterpreters(tampered);
    for (let turn = 0; turn < 2; turn++) expect(await unable.begin(workspace, "print(1)", usual)).toBeUndefined();
    expect(starts).toBe(1);
    await unable.close();
  },
);
