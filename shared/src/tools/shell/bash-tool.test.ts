import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { availableTiers, eventually, type OpenTier, openTier, processesNamed } from "../../sandbox/tiers.fixture.ts";
import type { ToolContext } from "../tool.ts";
import { bashTool, createShellSessions } from "./bash-tool.ts";
import type { SessionPool } from "./session-pool.ts";

const tiers = await availableTiers();

test("this machine has a tier to be tested", () => {
  expect(tiers).not.toBeEmpty();
});

describe.each(tiers)("tier %s", (tier) => {
  let open: OpenTier;
  let sessions: SessionPool;
  let context: ToolContext;
  const mark = `8${Math.floor(Math.random() * 1e9)}`;
  const call = (input: Record<string, unknown>, changes: Partial<ToolContext> = {}) =>
    bashTool({ sessions }).call(input, { ...context, ...changes });
  /** The text without times, which differ. */
  const bash = async (command: string, timeout = 20) =>
    (await call({ command, timeout })).text.replace(/(?<!time )\b\d+\.\d s/g, "T").replaceAll(open.workspace, "WS");
  const ends = (status: number) => `[exit code ${status}, T, cwd WS]`;

  beforeAll(async () => {
    open = await openTier(tier);
    sessions = createShellSessions(open.sandbox);
    context = open.context("conversation");
  });
  afterAll(async () => {
    await sessions.close();
    await open.close();
  });

  test("both outputs and the exit code are shown, in one form", async () => {
    expect(await bash("echo out; echo err >&2; (exit 3)")).toBe(`out\n[stderr]\nerr\n${ends(3)}`);
    expect(await bash("echo only >&2")).toBe(`only\n${ends(0)}`);
    expect(await bash("true")).toBe(ends(0));
    expect(await call({ command: "false" })).toMatchObject({ isError: true });
  });

  test("folder, variables, functions and aliases are kept between calls", async () => {
    await bash("mkdir -p sub; cd sub; X='a  b'; f() { echo \"f $1\"; }; alias hi='echo hello'; export E=e");
    expect(await bash('echo "$X"; f 1; hi; env | grep ^E=')).toBe(
      "a  b\nf 1\nhello\nE=e\n[exit code 0, T, cwd WS/sub]",
    );
    await bash("cd ..");
  });

  test.each([
    ["cat", ends(0)],
    ["read line; echo $?", `1\n${ends(0)}`],
    ["printf x", `x\n${ends(0)}`],
    ["echo a # comment", `a\n${ends(0)}`],
    ["cat <<END\none $((1 + 1))\nEND", `one 2\n${ends(0)}`],
    ["echo 'it''s'; echo \"!!\" \\'", `its\n!! '\n${ends(0)}`],
    ["printf '\\x00\\xff'", `\0\ufffd\n${ends(0)}`],
    ["exec 1>kept; echo hidden", ends(0)],
    ["set -x; echo traced", `traced\n[stderr]\n++ echo traced\n${ends(0)}`],
    ["PS1=prompt; PS2=more; PROMPT_COMMAND='echo noise'", expect.stringContaining("exit code 0")],
    ["bash -c 'kill -SEGV $$'", ends(139)],
    ["while :; do break; done; for x in 1 2; do :; done &&\n\n true", ends(0)],
  ])("%j behaves, and so does the call after it", async (command, expected) => {
    expect(await bash(command)).toEqual(expected);
    expect(await bash("echo after")).toBe(`after\n${ends(0)}`);
  });

  test.each(["echo 'abc", 'echo "$(', "if true; then", "f() {", "echo )", "cat <<END\nnever ended"])(
    "%j is answered at once",
    async (command) => {
      expect(await bash(command, 2)).toContain("exit code");
      expect(await bash("echo after")).toBe(`after\n${ends(0)}`);
    },
  );

  test("a job in the background returns at once, lives on, and survives the interruption of others", async () => {
    expect(await bash(`sleep ${mark} & sleep ${mark}`, 0.3)).toContain("stopped at its limit: wall time 0.3 s");
    expect(await bash("jobs -r")).toContain("Running");
    expect(await bash("sleep 77", 0.3)).toContain("exit code 130");
    expect(await bash("kill %1; wait 2>/dev/null; jobs -r")).not.toContain("Running");
  });

  test.each([
    ["a child", "sleep 100; echo not reached", 1500],
    ["a loop of the shell's own", "while :; do :; done", 1500],
    ["a loop of children", "while :; do sleep 0.05; done", 1500],
    ["a child that ignores polite signals", "(trap '' INT TERM; sleep 100)", 5000],
  ])("a timeout interrupts %s and keeps the session", async (_, command, atMost) => {
    await bash("KEPT=yes");
    const started = performance.now();
    expect(await bash(command, 0.3)).toStartWith("[stopped at its limit: wall time 0.3 s, exit code 1");
    expect(performance.now() - started).toBeLessThan(atMost);
    expect(await bash("echo $KEPT")).toBe(`yes\n${ends(0)}`);
  });

  test("a shell that cannot be interrupted is replaced, and that is said", async () => {
    const text = await bash("trap '' INT; while :; do :; done", 0.2);
    expect(text).toBe(
      "[stopped at its limit: wall time 0.2 s, T; it could not be interrupted, so the shell was ended]",
    );
    expect(await bash("echo on")).toBe(
      `[new shell, earlier state is lost: it did not stop at its limit]\non\n${ends(0)}`,
    );
  });

  test.each([
    ["exit 3", 3],
    ["exec true", 0],
    ["set -e; false; echo not reached", 1],
    ["kill -9 $$", 137],
  ])("%j ends the shell, and the next call starts another", async (command, status) => {
    expect(await bash(command)).toBe(
      `[the shell ended with exit code ${status}, T; the next command starts a new one]`,
    );
    const note = `[new shell, earlier state is lost: it ended with exit code ${status}]`;
    expect(await bash("echo on")).toBe(`${note}\non\n${ends(0)}`);
  });

  test("an exit trap has its say", async () => {
    expect(await bash("trap 'echo bye' EXIT; exit")).toStartWith("bye\n[the shell ended with exit code 0");
    await bash("true");
  });

  test("of a long output the model sees head and tail, and the whole is in a file", async () => {
    const text = await bash("seq 200000; echo end >&2");
    expect(text.length).toBeLessThan(70_000);
    expect(text).toContain("bytes left out");
    const path = /\[whole output, 1288899 bytes: (\S+)\]/.exec(text)?.[1] ?? "";
    const whole = await Bun.file(join(open.workspace, path)).text();
    expect(whole).toContain("\n100000\n100001\n");
    expect(whole).toContain("end\n");
  });

  test("endless output is stopped at its bound, with the session kept", async () => {
    await bash("KEPT=yes");
    expect(await bash("yes")).toContain("stopped at its limit: output 50 MB");
    expect(await bash("echo $KEPT")).toBe(`yes\n${ends(0)}`);
  });

  test("a background job that floods the output does not hold up the calls after it", async () => {
    await bash("yes flood &");
    expect(await bash("echo through; kill %1")).toContain("[exit code 0");
    await bash("restart=1; wait");
  });

  test("calls of one conversation wait for each other, those of another do not", async () => {
    const [first, second, other] = [
      call({ command: "sleep 0.3; V=1; date +%s%N" }),
      call({ command: "echo $V" }),
      call({ command: "echo free" }, open.context("other")),
    ];
    expect(await Promise.race([first, other])).toBe(await other);
    expect((await second).text).toStartWith("1\n");
  });

  test("output is shown live", async () => {
    const shown: string[] = [];
    const progress = (text: string) => void shown.push(text);
    const running = call({ command: "echo first; sleep 0.5; echo second" }, { progress });
    await eventually("the first line", () => shown.join("") === "first\n");
    await running;
    expect(shown.join("")).toBe("first\nsecond\n");
  });

  test("an abort ends the shell and everything in it, with the signal's own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("canceled by the person");
    const command = `setsid -f sleep ${mark}; trap '' TERM INT; echo begun; sleep ${mark}`;
    const progress = () => controller.abort(reason);
    const started = performance.now();
    expect(await call({ command }, { signal: controller.signal, progress }).catch((error) => error)).toBe(reason);
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await bash("echo on")).toStartWith("[new shell, earlier state is lost: the call before was canceled]\non");
  });

  test("a restart is a new shell, and does not need a command", async () => {
    await bash("X=1");
    expect((await call({ restart: true })).text).toContain("restarted");
    expect(await bash("echo [$X]")).toBe(`[new shell, earlier state is lost: a restart was asked for]\n[]\n${ends(0)}`);
    await bash("X=1");
    expect((await call({ restart: true, command: "echo [$X]" })).text).toContain("\n[]\n");
    expect(await call({})).toMatchObject({ isError: true, text: expect.stringContaining("Nothing to do") });
  });

  test("after a restart of the server the conversation is told that its shell is gone", async () => {
    const again = createShellSessions(open.sandbox);
    const { text } = await bashTool({ sessions: again }).call({ command: "echo on" }, context);
    expect(text).toStartWith("[new shell, earlier state is lost: the server was restarted]\non\n");
    await again.close();
    await rm(context.workspace.metaRoot, { recursive: true });
  });

  test("a shell nobody uses is closed, with its jobs", async () => {
    const brief = createShellSessions(open.sandbox, { idleMs: 100 });
    await bashTool({ sessions: brief }).call({ command: `sleep ${mark} &` }, open.context("idle"));
    await eventually("the shell is closed", async () => (await processesNamed(mark)).length === 0);
    const { text } = await bashTool({ sessions: brief }).call({ command: "true" }, open.context("idle"));
    expect(text).toContain("it was idle for long");
    await brief.close();
  });

  test("closing the sessions leaves no process", async () => {
    const brief = createShellSessions(open.sandbox);
    await bashTool({ sessions: brief }).call(
      { command: `sleep ${mark} & setsid -f sleep ${mark}` },
      open.context("close"),
    );
    expect(await processesNamed(mark)).not.toBeEmpty();
    await brief.close();
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
  });
});

test("bad arguments are a result, and only a restart may be repeated", async () => {
  const open = await openTier("auto");
  const sessions = createShellSessions(open.sandbox);
  const tool = bashTool({ sessions });
  for (const input of [{ command: "" }, { command: "a\0b" }, { command: "a", timeout: 601 }, { cmd: "a" }, "ls"]) {
    expect(await tool.call(input, open.context("c"))).toMatchObject({ isError: true });
  }
  expect([tool.effect({ command: "ls" }), tool.effect({ restart: true })]).toEqual(["once", "idempotent"]);
  await sessions.close();
  await open.close();
});
