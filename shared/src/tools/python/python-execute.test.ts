import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "../../core/tools/tool.ts";
import { descendants, isInterruptPending, readProcessTable } from "../../machine/kernel/process-table.ts";
import { sandboxPath } from "../../machine/process/environment.ts";
import { availableTiers, eventually, type OpenTier, openTier, processesNamed } from "../../testing/sandbox/tiers.ts";
import { findPython, lookForPython } from "./find-python.ts";
import { createPythonInterpreters, type PythonInterpreters, pythonExecute } from "./python-execute.ts";

const tiers = await availableTiers();

/** A virtual environment with one module of its own; undefined where Python cannot make one. */
const environment = await madeEnvironment();
if (environment === undefined) console.warn("Skipped: virtual environments need Python with venv.");
afterAll(async () => environment && rm(environment, { recursive: true }));

async function madeEnvironment(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-venv-"));
  await chmod(folder, 0o755);
  const argv = ["python3", "-m", "venv", "--without-pip", folder];
  if (Bun.spawnSync(argv, { env: { PATH: sandboxPath } }).exitCode !== 0) return undefined;
  const [library = ""] = new Bun.Glob("lib/python3*/site-packages").scanSync({ cwd: folder, onlyFiles: false });
  await Bun.write(join(folder, library, "greeting.py"), "word = 'hello from the home'\n");
  return realpath(folder);
}

describe.skipIf(environment === undefined).each(tiers)("on tier %s, the virtual environment of a home", (tier) => {
  test("is what every program of Python sees, whoever starts it, and none can change", async () => {
    const open = await openTier(tier, { python: environment });
    const interpreters = createPythonInterpreters(open.sandbox);
    const { libraries } = (await (await lookForPython(open.sandbox, ["Greeting>=1"])).found) ?? {};
    const tool = pythonExecute({ sandbox: open.sandbox, interpreters, libraries });
    const run = async (code: string, session = false) =>
      (await tool.call({ code, session }, open.context("conversation"))).text;
    try {
      expect(tool.description).toEndWith(`with ${libraries?.slice(0, 7).join(", ")}.`);
      expect(libraries).toContain("greeting");
      for (const session of [false, false, true])
        expect(await run("import greeting\nprint(greeting.word)", session)).toStartWith("hello from the home");
      const shell = `import subprocess; print(subprocess.run("python3 -c 'import greeting; print(greeting.word)'", shell=True, capture_output=True, text=True).stdout)`;
      expect(await run(shell)).toStartWith("hello from the home");
      expect(await run("import greeting\nopen(greeting.__file__, 'a').write('x')")).toContain("Error");
    } finally {
      await interpreters.close();
      await open.close();
    }
  }, 60_000);
});

test("this machine has a tier to be tested", () => {
  expect(tiers).not.toBeEmpty();
});

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let interpreters: PythonInterpreters;
  const mark = `7${Math.floor(Math.random() * 1e9)}`;
  const call = (code: string, more: Record<string, unknown> = {}, changes: Partial<ToolContext> = {}) =>
    pythonExecute({ sandbox: open.sandbox, interpreters }).call(
      { code, ...more },
      open.context("conversation", changes),
    );
  const python = async (code: string, more: Record<string, unknown> = {}) =>
    (await call(code, more)).text.replace(/\d+\.\d s\]/g, "T]");

  beforeAll(async () => {
    open = await openTier(tier);
    interpreters = createPythonInterpreters(open.sandbox);
  });
  afterAll(async () => {
    await interpreters.close();
    await open.close();
  });

  test("Python is found, with the libraries that can be imported", async () => {
    const found = await findPython(open.sandbox);
    expect(found?.version).toMatch(/^3\.\d+/);
    const imported = await python(`import ${["sys", ...(found?.libraries ?? [])].join(", ")}\nprint("all there")`);
    expect(imported).toStartWith("all there");
  });

  test.each([false, true])(
    "both outputs, tracebacks and exit codes are in the result (session: %p)",
    async (session) => {
      const more = { session };
      expect(await python("if __name__ == '__main__':\n  print('main')", more)).toBe("main\n[exit code 0, T]");
      const both =
        "import subprocess, sys\nprint('one')\nprint('two', file=sys.stderr)\nsubprocess.run('echo three; echo four >&2', shell=True)\nprint('five')";
      expect(await python(both, more)).toBe("one\ntwo\nthree\nfour\nfive\n[exit code 0, T]");
      const failing = await python("def f():\n    return 1 / 0\nprint('before')\nf()", more);
      expect(failing).toContain("return 1 / 0");
      expect(failing).toMatch(/^before\nTraceback[\s\S]*line 4, in <module>[\s\S]*ZeroDivisionError/);
      expect(failing).not.toContain("<string>");
      expect(failing).toEndWith("[exit code 1, T]");
      const called =
        "open('own.py', 'w').write('def f():\\n    raise KeyError(1)\\n')\nimport sys; sys.path[:0] = ['.']\nimport own\nown.f()";
      expect(await python(called, more)).toContain('File "own.py", line 2, in f');
      expect(await python("x = (", more)).toContain("SyntaxError");
      expect(await python("raise SystemExit(7)", more)).toBe("[exit code 7, T]");
      expect(await python("raise SystemExit", more)).toBe("(no output: print what you want to see)\n[exit code 0, T]");
      expect(await python("import sys; sys.exit('no')", more)).toBe("no\n[exit code 1, T]");
      expect(await python("input()", more)).toContain("EOFError");
      expect(
        await python("import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))", more),
      ).toContain("__main__.A");
    },
  );

  test("each call is a separate program, files persist, and code of any size is accepted", async () => {
    await python("x = 1; open('made.txt', 'w').write('ü')");
    expect(await Bun.file(join(open.workspace, "made.txt")).text()).toBe("ü");
    expect(await python("print(x)")).toContain("NameError");
    expect(await python(`# ${"x".repeat(500_000)}\nprint('ü')`)).toBe("ü\n[exit code 0, T]");
  });

  test("a progress bar and colours are shown as a terminal leaves them", async () => {
    const code = "for n in range(50): print(f'\\r{n} %', end='')\nprint('\\n\\x1b[31mred\\x1b[0m')";
    expect(await python(code)).toMatch(/^0 %\n\[… 48 more states .*\n49 %\nred\n\[terminal sequences/);
  });

  test("a session keeps its state, even after a timeout, and says when it could not", async () => {
    const session = true;
    await python("x = 41", { session });
    expect(await python("print(x + 1)", { session })).toBe("42\n[exit code 0, T]");
    const late = await python("while True: pass", { session, timeout: 0.3 });
    expect(late).toContain("KeyboardInterrupt");
    expect(late).toEndWith("[stopped at its limit: wall time 0.3 s, exit code 130, T]");
    expect(await python("print(x)", { session })).toBe("41\n[exit code 0, T]");
    expect(await python("import os; os._exit(9)", { session })).toContain("interpreter has ended");
    expect(await python("print(1)", { session })).toContain("earlier state was lost: it ended with exit code 9");
  });

  test("an interrupt that comes before the program has begun meets it, and none of our own work", async () => {
    const session = true;
    await python("x = 41", { session });
    const isPython = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("-u\0-c");
    const [interpreter = 0] = descendants(readProcessTable(), process.pid).filter(isPython).slice(-1);
    for (const code of ["while True: pass", "x += 1"]) {
      process.kill(interpreter, "SIGSTOP");
      const late = python(code, { session, timeout: 0.01 });
      await eventually("it is interrupted", () => isInterruptPending(interpreter));
      process.kill(interpreter, "SIGCONT");
      expect(await late).toBe("KeyboardInterrupt\n[stopped at its limit: wall time 0.01 s, exit code 130, T]");
      expect(await python("print(x)", { session })).toBe("41\n[exit code 0, T]");
    }
  });

  test("a timeout stops a program that ignores interrupts", async () => {
    const started = performance.now();
    const code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('begun')\ntime.sleep(100)";
    const text = await python(code, { timeout: 3 });
    expect(text).toBe("begun\n[stopped at its limit: wall time 3 s, exit code 137, T]");
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  test("long output is cut for the model and kept in full in a file", async () => {
    const text = await python("for i in range(100000): print(i)");
    expect(text.length).toBeLessThan(70_000);
    const path = /\[whole output, 588890 bytes: (\S+)\]/.exec(text)?.[1] ?? "";
    expect(await Bun.file(join(open.workspace, path)).text()).toContain("\n50000\n50001\n");
  });

  test.each([false, true])("an abort ends it with the signal's own reason (session: %p)", async (session) => {
    const controller = new AbortController();
    const reason = new Error("canceled by the person");
    const code = `import subprocess\nprint('begun')\nsubprocess.run(['sleep', '${mark}'])`;
    const progress = () => controller.abort(reason);
    const running = call(code, { session }, { signal: controller.signal, progress });
    expect(await running.catch((error) => error)).toBe(reason);
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
  });

  test("a program is never run again by itself, and one that was canceled before does not begin", async () => {
    const tool = pythonExecute({ sandbox: open.sandbox, interpreters });
    expect([tool.effect({ code: "1" }), tool.edits]).toEqual(["once", true]);
    const reason = new Error("canceled before");
    for (const session of [true, false]) {
      const early = call("open('begun.txt', 'w')", { session }, { signal: AbortSignal.abort(reason) });
      expect(await early.catch((error) => error)).toBe(reason);
    }
    expect(await python("import os; print(os.path.exists('begun.txt'))")).toStartWith("False");
  });

  test("a program that was stopped has failed, even if it then ends well", async () => {
    const code = "import signal\nasked = []\nsignal.signal(signal.SIGINT, lambda *_: asked.append(1))";
    // Starting takes time of its own.
    await call(code, { session: true });
    expect(await call("while not asked: pass", { session: true, timeout: 0.3 })).toMatchObject({
      text: expect.stringContaining("[stopped at its limit: wall time 0.3 s, exit code 0,"),
      isError: true,
    });
    await python("signal.signal(signal.SIGINT, signal.default_int_handler)", { session: true });
  });

  test.each(["release", "close"] as const)("%s ends a conversation's interpreters of both kinds", async (way) => {
    const brief = createPythonInterpreters(open.sandbox);
    const ours = () => descendants(readProcessTable(), process.pid);
    const others = new Set(ours());
    const tool = pythonExecute({ sandbox: open.sandbox, interpreters: brief });
    for (const session of [true, false]) {
      const { text } = await tool.call({ code: "print(1)", session }, open.context(way));
      expect(text).toStartWith("1\n");
      expect(ours().filter((pid) => !others.has(pid))).not.toBeEmpty();
    }
    if (way === "release") await tool.release?.(open.context(way).workspace);
    else await brief.close();
    await eventually("all have ended", () => ours().every((pid) => others.has(pid)));
    await brief.close();
  });
});
