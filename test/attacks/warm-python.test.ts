import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  availableTiers,
  eventually,
  type OpenTier,
  openTier,
  processesNamed,
} from "../../shared/src/testing/sandbox/tiers.ts";
import {
  createPythonInterpreters,
  type PythonInterpreters,
  pythonExecute,
} from "../../shared/src/tools/python/python-execute.ts";

const tiers = await availableTiers();

/**
 * What a program can do to the process it was forked from, named by its number and in other ways.
 */
const onTheInterpreter = `
import ctypes, errno, os, resource, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
def attempt(word, act):
    try: print(word, "DONE" if act() is not False else "refused")
    except OSError: print(word, "refused")
def call(function, *arguments):
    if function(*arguments) < 0: raise OSError(ctypes.get_errno(), "")
parent = os.getppid()
print(parent)
for way in ("mem", "environ", "fd/3", "fd/4", "auxv", "maps", "root", "cwd"):
    attempt("read " + way, lambda: open(f"/proc/{parent}/{way}", "rb").read(1) if way != "cwd" and way != "root" else os.listdir(f"/proc/{parent}/{way}"))
for way in ("mem", "oom_score_adj", "timerslack_ns", "clear_refs", "coredump_filter", "autogroup"):
    attempt("write " + way, lambda: os.write(os.open(f"/proc/{parent}/{way}", os.O_WRONLY), b"1"))
attempt("descriptors", lambda: os.listdir(f"/proc/{parent}/fd"))
attempt("trace", lambda: call(libc.ptrace, 16, parent, 0, 0))
attempt("limits", lambda: resource.prlimit(parent, resource.RLIMIT_FSIZE, (0, 0)))
attempt("limit of processor time", lambda: resource.prlimit(parent, resource.RLIMIT_CPU, (0, 0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, parent, 19))
attempt("priority of the group", lambda: os.setpriority(os.PRIO_PGRP, 0, 19))
attempt("priority of the group by number", lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(parent), 19))
attempt("priority of the user", lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19))
attempt("affinity", lambda: os.sched_setaffinity(parent, [min(os.sched_getaffinity(0))]))
attempt("scheduler", lambda: os.sched_setscheduler(parent, os.SCHED_IDLE, os.sched_param(0)))
ioprio_set = {"x86_64": 251, "aarch64": 30}[os.uname().machine]
for which, who in ((1, parent), (2, 0), (2, os.getpgid(parent)), (3, os.getuid())):
    attempt("priority of files %d" % which, lambda: call(libc.syscall, ioprio_set, which, who, 3 << 13))
attempt("queue", lambda: call(libc.mq_open, b"/queue", os.O_CREAT | os.O_RDWR, 0o600, None))
attempt("group", lambda: os.setpgid(parent, 0))
`;

/** Sending tells nothing of the effect. 0 is the program's group, which ignores what it can. */
const signals = `
import os, signal
for number in range(1, 65):
    if number in (32, 33): continue
    os.kill(1, number)
    if number in (9, 19): continue
    signal.signal(number, signal.SIG_IGN)
    os.kill(0, number)
print("sent")
`;

const forging = `
import os
for descriptor in range(3, 1024):
    for frame in (b"c\\x04\\0\\0\\0\\x07\\0\\0\\0", b"o\\x06\\0\\0\\0forged"):
        try: os.write(descriptor, frame); print("WROTE", descriptor)
        except OSError: pass
os.write(1, b"c\\x04\\0\\0\\0\\x07\\0\\0\\0still here")
`;

const leaving = (mark: string) => `
import ctypes, os, subprocess
subprocess.Popen(["sh", "-c", "trap '' TERM INT HUP; (setsid sleep ${mark} &); while :; do :; done"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        while True:
            try: os.fork()
            except OSError: pass
`;

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let interpreters: PythonInterpreters;
  const python = async (code: string) => {
    const tool = pythonExecute({ sandbox: open.sandbox, interpreters });
    const { text } = await tool.call({ code, timeout: 30 }, open.context("conversation"));
    return text.replace(/\d+\.\d s\]$/, "T]");
  };
  beforeAll(async () => {
    open = await openTier(tier);
    interpreters = createPythonInterpreters(open.sandbox);
  });
  afterAll(async () => {
    await interpreters.close();
    await open.close();
  });
  const interpreter = () => python("import os; print(os.readlink('/proc/self/ns/pid'), os.getppid() == 1)");
  const isWarm = tier === "bwrap";

  test.skipIf(!isWarm)("a program reaches nothing of the interpreter it was forked from", async () => {
    const before = await interpreter();
    const [parent, ...lines] = (await python(onTheInterpreter)).split("\n");
    expect(parent).toBe("1");
    expect(lines.filter((line) => !line.endsWith("refused"))).toEqual(["[exit code 0, T]"]);
    expect(lines.length).toBeGreaterThan(25);
    expect(await interpreter()).toBe(before);
  });

  test.skipIf(!isWarm)("a program cannot end, stop or interrupt the interpreter", async () => {
    const before = await interpreter();
    expect(await python(signals)).toBe("sent\n[exit code 0, T]");
    expect(await interpreter()).toBe(before);
  });

  test("a program cannot say in the interpreter's name that it has ended", async () => {
    const text = await python(forging);
    expect(text).not.toContain("WROTE");
    expect(text).toMatch(/still here\n\[exit code 0, T\]$/);
  });

  test("nothing that a program starts outlives it, however it starts it", async () => {
    const mark = `4${Math.floor(Math.random() * 1e9)}`;
    const others = `
import os
names = (open(f"/proc/{pid}/comm").read() for pid in os.listdir("/proc") if pid.isdigit())
# srt's relay forks for each connection.
print(sorted(name for name in names if name != "socat\\n"))`;
    const before = tier === "landlock" ? "" : await python(others);
    expect(await python(leaving(mark))).toContain("[exit code 0, T]");
    if (tier !== "landlock") expect(await python(others)).toBe(before);
    await eventually("it is gone", async () => (await processesNamed(mark)).length === 0);
    expect(await python("print('next')")).toStartWith("next\n");
  });

  test.skipIf(tier === "landlock")("no file or shared memory outside the workspace is passed on", async () => {
    const leave = `
import ctypes, os
open("/tmp/left", "w").write("x"); open("/dev/shm/left", "w").write("x")
os.mkdir("/tmp/closed", 0); os.chmod("/dev/shm", 0)
ctypes.CDLL(None).shmget(4711, 4096, 0o1666)
print("left")`;
    const look = `
import ctypes, os
print(os.path.exists("/tmp/left"), os.path.exists("/tmp/closed"), os.listdir("/dev/shm"), ctypes.CDLL(None).shmget(4711, 4096, 0o600) == -1)`;
    expect(await python(leave)).toStartWith("left\n");
    expect(await python(look)).toStartWith("False False [] True\n");
    for (const one of [
      "os.chmod('/tmp', 0)",
      "ctypes.CDLL(None).shmget(4711, 4096, 0o1666)",
      "open('/tmp/left', 'w')",
    ]) {
      await python(`import ctypes, os; ${one}`);
      expect(await python(`${look}; open('/tmp/mine', 'w').close(); os.remove('/tmp/mine')`)).toStartWith(
        "False False [] True\n",
      );
    }
  });

  test("modules that a program puts in its way run in no interpreter that is kept", async () => {
    const home = open.workspace;
    const planted = "import os; open('ran', 'a').write('%d ' % os.getpid())";
    for (const name of ["ctypes", "select", "json", "traceback", "signal", "encodings", "site"])
      await writeFile(join(home, `${name}.py`), planted);
    const site = (await python("import site; print(site.getusersitepackages())")).split("\n")[0] ?? "";
    await mkdir(site, { recursive: true });
    for (const name of ["usercustomize.py", "sitecustomize.py", "planted.pth"])
      await writeFile(join(site, name), planted);
    await interpreters.release({ root: home, metaRoot: dirname(home) } as Parameters<typeof interpreters.release>[0]);
    await python("print('next')");
    const ran = await Bun.file(join(home, "ran")).text();
    expect(ran.split(" ")).not.toContain("1");
  });
});
