import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ending, type OpenShell, openShell } from "../../testing/sandbox/shell.ts";
import { availableTiers, eventually, processesNamed } from "../../testing/sandbox/tiers.ts";
import { bashTool, createShellSessions } from "./bash-tool.ts";

const tiers = await availableTiers();

test("this machine has a tier to be tested", () => {
  expect(tiers).not.toBeEmpty();
});

// Covers what depends on how a tier starts and finds processes; the rest of the tool is tested on
// one tier.
describe.each(tiers)("tier %s", (tier) => {
  let shell: OpenShell;
  const mark = `6${Math.floor(Math.random() * 1e9)}`;

  beforeAll(async () => {
    shell = await openShell(tier);
  });
  afterAll(() => shell.close());

  test("a background job returns at once, keeps running, and survives the interruption of other commands", async () => {
    expect(await shell.bash(`sleep ${mark} & sleep ${mark}`, 0.3)).toContain("stopped at its limit: wall time 0.3 s");
    expect(await shell.bash("jobs -r")).toContain("Running");
    expect(await shell.bash("sleep 77", 0.3)).toContain("exit code 130");
    expect(await shell.bash("kill %1; wait 2>/dev/null; jobs -r")).not.toContain("Running");
  });

  test.each([
    ["a child", "sleep 100; echo not reached"],
    ["a loop of the shell's own", "while :; do :; done"],
    ["a loop of children", "while :; do sleep 0.05; done"],
    ["a child that ignores polite signals", "(trap '' INT TERM; sleep 100)"],
  ])("a timeout interrupts %s and keeps the session", async (_, command) => {
    await shell.bash("KEPT=yes");
    const started = performance.now();
    expect(await shell.bash(command, 0.3)).toStartWith("[stopped at its limit: wall time 0.3 s, exit code 1");
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(await shell.bash("echo $KEPT")).toBe(`yes\n${ending(0)}`);
  });

  test("an abort ends the shell and everything in it, with the signal's own reason", async () => {
    const controller = new AbortController();
    const reason = new Error("canceled by the person");
    const command = `setsid -f sleep ${mark}; trap '' TERM INT; echo begun; sleep ${mark}`;
    const progress = () => controller.abort(reason);
    const started = performance.now();
    expect(await shell.call({ command }, { signal: controller.signal, progress }).catch((error) => error)).toBe(reason);
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
    expect(performance.now() - started).toBeLessThan(60_000);
    const kept = Bun.file(join(shell.tier.workspace, ".manyhands/output/bash.txt"));
    expect(await kept.text()).toBe("begun\n");
    expect(await shell.bash("echo on")).toStartWith(
      "[new shell, earlier state is lost: the call before was canceled]\non",
    );
  });

  test("closing the sessions leaves no process", async () => {
    const brief = createShellSessions(shell.tier.sandbox);
    await bashTool({ sessions: brief }).call(
      { command: `sleep ${mark} & setsid -f sleep ${mark}` },
      shell.tier.context("close"),
    );
    await eventually("the jobs run", async () => (await processesNamed(mark)).length === 2);
    await brief.close();
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
  });
});
