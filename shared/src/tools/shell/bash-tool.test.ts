import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withinTrace } from "../../core/trace.ts";
import { sandboxPath } from "../../machine/process/environment.ts";
import { ending, type OpenShell, openShell } from "../../testing/sandbox/shell.ts";
import { eventually, processesNamed } from "../../testing/sandbox/tiers.ts";
import { bashTool, createShellSessions } from "./bash-tool.ts";

const hasPython = Bun.which("python3", { PATH: sandboxPath }) !== null;

describe("the bash tool", () => {
  let shell: OpenShell;
  const mark = `8${Math.floor(Math.random() * 1e9)}`;

  beforeAll(async () => {
    shell = await openShell("auto");
  });
  afterAll(() => shell.close());

  test("both outputs are shown in the order they were written in, with the exit code", async () => {
    expect(await shell.bash("echo err >&2; echo out; echo last >&2; (exit 3)")).toBe(`err\nout\nlast\n${ending(3)}`);
    expect(await shell.bash("echo exit")).toBe(`exit\n${ending(0)}`);
    expect(await shell.bash("echo only >&2")).toBe(`only\n${ending(0)}`);
    expect(await shell.bash("true")).toBe(ending(0));
    expect(await shell.call({ command: "false" })).toMatchObject({ isError: true });
  });

  test("a progress bar and colours are shown as a terminal leaves them", async () => {
    const text = await shell.bash(
      "for n in $(seq 1 50); do printf '\\r%s %%' $n; done; printf '\\n\\033[31mred\\033[0m\\n'",
    );
    expect(text).toStartWith("1 %\n[… 48 more states of this line");
    expect(text).toContain("\n50 %\nred\n[terminal sequences");
  });

  test.skipIf(!hasPython)("what Python prints before an error comes before it", async () => {
    const text = await shell.bash("python3 -c 'print(1); print(2); 1 / 0'");
    expect(text).toMatch(/^1\n2\nTraceback [\s\S]*ZeroDivisionError/);
  });

  test("each call of a shell is told the trace that it belongs to", async () => {
    const asked = "env | grep ^TRACE | sort";
    const first = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`, tracestate: "a='b' $c" };
    const second = { traceparent: `00-${"1".repeat(32)}-${"3".repeat(16)}-01` };
    const told = (trace: Parameters<typeof withinTrace>[0]) => withinTrace(trace, () => shell.bash(asked));
    expect(await told(first)).toStartWith(`TRACEPARENT=${first.traceparent}\nTRACESTATE=a='b' $c\n`);
    expect(await told(second)).toStartWith(`TRACEPARENT=${second.traceparent}\n`);
  });

  test("folder, variables, functions and aliases are kept between calls", async () => {
    await shell.bash("mkdir -p sub; cd sub; X='a  b'; f() { echo \"f $1\"; }; alias hi='echo hello'; export E=e");
    expect(await shell.bash('echo "$X"; f 1; hi; env | grep ^E=')).toBe(
      "a  b\nf 1\nhello\nE=e\n[exit code 0, T, cwd ./sub]",
    );
    await shell.bash("cd ..");
  });

  test.each([
    ["cat", ending(0)],
    ["read line; echo $?", `1\n${ending(0)}`],
    ["printf x", `x\n${ending(0)}`],
    ["echo a # comment", `a\n${ending(0)}`],
    ["cat <<END\none $((1 + 1))\nEND", `one 2\n${ending(0)}`],
    ["echo 'it''s'; echo \"!!\" \\'", `its\n!! '\n${ending(0)}`],
    ["printf '\\x00\\xff'", `\0\ufffd\n${ending(0)}`],
    ["exec 1>kept; echo hidden", ending(0)],
    ["set -x; echo traced", `++ echo traced\ntraced\n${ending(0)}`],
    ["PS1=prompt; PS2=more; PROMPT_COMMAND='echo noise'", expect.stringContaining("exit code 0")],
    ["bash -c 'kill -SEGV $$'", ending(139)],
    ["while :; do break; done; for x in 1 2; do :; done &&\n\n true", ending(0)],
  ])("%j works, and so does the call after it", async (command, expected) => {
    expect(await shell.bash(command)).toEqual(expected);
    expect(await shell.bash("echo after")).toBe(`after\n${ending(0)}`);
  });

  test.each(["echo 'abc", 'echo "$(', "if true; then", "f() {", "echo )", "cat <<END\nnever ended"])(
    "%j is answered at once",
    async (command) => {
      expect(await shell.bash(command, 2)).toContain("exit code");
      expect(await shell.bash("echo after")).toBe(`after\n${ending(0)}`);
    },
  );

  test("a shell that cannot be interrupted is replaced, and the result says so", async () => {
    const text = await shell.bash("trap '' INT; while :; do :; done", 0.2);
    expect(text).toBe(
      "[stopped at its limit: wall time 0.2 s, T; it could not be interrupted, so the shell was ended]",
    );
    expect(await shell.bash("echo on")).toBe(
      `[new shell, earlier state is lost: it did not stop at its limit]\non\n${ending(0)}`,
    );
  });

  test.each([
    ["exit 3", 3],
    ["exec true", 0],
    ["set -e; false; echo not reached", 1],
    ["kill -9 $$", 137],
  ])("%j ends the shell, and the next call starts another", async (command, status) => {
    expect(await shell.bash(command)).toBe(
      `[the shell ended with exit code ${status}, T; the next command starts a new one]`,
    );
    const note = `[new shell, earlier state is lost: it ended with exit code ${status}]`;
    expect(await shell.bash("echo on")).toBe(`${note}\non\n${ending(0)}`);
  });

  test("a script that ends with `exit` fails only if its status says so", async () => {
    expect(await shell.call({ command: "echo done; exit 0" })).toMatchObject({ isError: false });
    expect(await shell.call({ command: "exit 4" })).toMatchObject({ isError: true });
    await shell.bash("true");
  });
  test.if(Bun.which("git") !== null)("git ignores the files that the sandbox adds to a workspace", async () => {
    const folder = await shell.tier.folder("repository");
    const workspace = { ...shell.context.workspace, root: folder };
    const run = async (command: string) => (await shell.call({ command }, { workspace })).text;
    await run("mkdir .manyhands; echo x > .manyhands/x; echo y > y.txt; git init -q");
    expect(await run("git status --porcelain")).toStartWith("?? y.txt\n[exit code 0");
    expect(await run("git add -A && git -c user.name=a commit -qm first && git ls-files")).toStartWith("y.txt\n[exit");
  });

  test("an exit trap runs", async () => {
    expect(await shell.bash("trap 'echo bye' EXIT; exit")).toStartWith("bye\n[the shell ended with exit code 0");
    await shell.bash("true");
  });

  test("the model sees the head and tail of a long output, and a file has the full output", async () => {
    const text = await shell.bash("seq 200000; echo end >&2");
    expect(text.length).toBeLessThan(70_000);
    expect(text).toContain("bytes left out");
    const path = /\[whole output, 1288899 bytes: (\S+)\]/.exec(text)?.[1] ?? "";
    const whole = await Bun.file(join(shell.tier.workspace, path)).text();
    expect(whole).toContain("\n100000\n100001\n");
    expect(whole).toContain("end\n");
    expect(await shell.bash("seq 200000 >&2")).toContain("[whole output, 1288895 bytes: ");
  });

  test("endless output is stopped at its limit, and the session is kept", async () => {
    await shell.bash("KEPT=yes");
    expect(await shell.bash("yes")).toContain("stopped at its limit: output 50 MB");
    expect(await shell.bash("echo $KEPT")).toBe(`yes\n${ending(0)}`);
  });

  test("a background job that floods the output does not hold up the calls after it", async () => {
    await shell.bash("yes flood &");
    expect(await shell.bash("echo through; kill %1")).toContain("[exit code 0");
    await shell.bash("restart=1; wait");
  });

  test("calls of one conversation wait for each other, those of another do not", async () => {
    const first = shell.call({ command: "until [ -e go ]; do sleep 0.02; done; V=1" });
    const second = shell.call({ command: "echo $V; rm go" });
    const workspace = { ...shell.context.workspace, root: await shell.tier.folder("apart") };
    const other = await shell.call({ command: "echo free" }, { workspace });
    expect(other.text).toContain("free\n");
    await Bun.write(join(shell.tier.workspace, "go"), "");
    await first;
    expect((await second).text).toStartWith("1\n");
  });

  test("output is shown live", async () => {
    const shown: string[] = [];
    const progress = (text: string) => void shown.push(text);
    const running = shell.call({ command: "echo first; sleep 0.5; echo second" }, { progress });
    await eventually("the first line", () => shown.join("") === "first\n");
    await running;
    expect(shown.join("")).toBe("first\nsecond\n");
  });

  test("a restart is a new shell, and does not need a command", async () => {
    await shell.bash("X=1");
    expect((await shell.call({ restart: true })).text).toContain("restarted");
    expect(await shell.bash("echo [$X]")).toBe(
      `[new shell, earlier state is lost: a restart was asked for]\n[]\n${ending(0)}`,
    );
    await shell.bash("X=1");
    expect((await shell.call({ restart: true, command: "echo [$X]" })).text).toContain("\n[]\n");
    expect(await shell.call({})).toMatchObject({ isError: true, text: expect.stringContaining("Nothing to do") });
  });

  test("after a restart of the server the conversation learns that its shell is gone", async () => {
    const again = createShellSessions(shell.tier.sandbox);
    const { text } = await bashTool({ sessions: again }).call({ command: "echo on" }, shell.context);
    expect(text).toStartWith("[new shell, earlier state is lost: the server was restarted]\non\n");
    await again.close();
    await rm(shell.context.workspace.metaRoot, { recursive: true });
  });

  test("a shell nobody uses is closed, with its jobs", async () => {
    const brief = createShellSessions(shell.tier.sandbox, { idleMs: 500 });
    await bashTool({ sessions: brief }).call({ command: `sleep ${mark} &` }, shell.tier.context("idle"));
    await eventually("the job runs", async () => (await processesNamed(mark)).length > 0);
    await eventually("the shell is closed", async () => (await processesNamed(mark)).length === 0);
    const { text } = await bashTool({ sessions: brief }).call({ command: "true" }, shell.tier.context("idle"));
    expect(text).toContain("it was idle for long");
    await brief.close();
  });

  test("if there are too many shells, the one idle longest is closed, never one that is running a command", async () => {
    const few = createShellSessions(shell.tier.sandbox, { most: 2 });
    const run = async (name: string, command: string) => {
      const root = await shell.tier.folder(`few-${name}`);
      const workspace = { ...shell.context.workspace, root, metaRoot: join(root, "meta") };
      return (await bashTool({ sessions: few }).call({ command }, { ...shell.context, workspace })).text;
    };
    await run("one", "x=1");
    const working = run("two", "sleep 1; echo $x two");
    await run("three", "x=3");
    expect(await run("one", "echo again")).toStartWith(
      "[new shell, earlier state is lost: too many others were in use]",
    );
    expect(await run("three", "echo x$x")).toContain("too many others were in use");
    expect(await working).toStartWith("two\n[exit code 0");
    await few.close();
  });

  test("a busy shell is neither waited for nor closed to make room for another, however long it has had no new call", async () => {
    const one = createShellSessions(shell.tier.sandbox, { most: 1 });
    const folders = new Map<string, string>();
    const run = async (name: string, command: string) => {
      const root = folders.get(name) ?? (await shell.tier.folder(`busy-${name}`));
      folders.set(name, root);
      const workspace = { ...shell.context.workspace, root, metaRoot: join(root, "meta") };
      return (await bashTool({ sessions: one }).call({ command }, { ...shell.context, workspace })).text;
    };
    const working = run("first", "x=1; touch begun; until [ -e go ]; do sleep 0.05; done; echo done");
    await eventually("the first works", () => Bun.file(join(folders.get("first") ?? "", "begun")).exists());
    expect(await run("second", "echo beside")).toStartWith("beside");
    await Bun.write(join(folders.get("first") ?? "", "go"), "");
    expect(await working).toStartWith("done");
    expect(await run("first", "echo x$x")).toStartWith("x1");
    await one.close();
  });

  test("bad arguments are a result, and only a restart may be repeated", async () => {
    for (const input of [{ command: "" }, { command: "a\0b" }, { command: "a", timeout: 601 }, { cmd: "a" }]) {
      expect(await shell.call(input)).toMatchObject({ isError: true });
    }
    const tool = bashTool(shell);
    expect([tool.effect({ command: "ls" }), tool.effect({ restart: true })]).toEqual(["once", "idempotent"]);
  });
});
