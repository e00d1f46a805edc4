import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { Sandbox, SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { type DisplayAnswer, displaysByHand, pictureOf } from "../../testing/sandbox/desktop-by-hand.ts";
import { processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { computerUse } from "./computer-use.ts";
import { createDisplays, displayTiers } from "./display-session.ts";
import { missingPrograms } from "./missing-programs.ts";

const size = { width: 20, height: 10 };
const workspace = { root: "/w", spill: async (name: string) => `kept/${name}` } as never;

/** A call on a display whose programs answer this one after the other. */
async function called(input: object, answers: readonly DisplayAnswer[] = [], signal = new AbortController().signal) {
  const { calls, displays } = displaysByHand(() => answers[calls.length - 1] ?? {});
  const result = await computerUse({ displays, size }).call(input, contextForTest(workspace, { signal }));
  return { ...result, calls };
}

test.each([
  [{ limit: "wall time 15 s" }, "Stopped at its limit: wall time 15 s."],
  [{ state: "ended", exitCode: 1 }, "The display has ended, and its programs with it. The next call starts a new one."],
  [{ state: "lost" }, "The display has ended, and its programs with it. The next call starts a new one."],
  [{ payload: "1", stderr: " no window\n" }, "no window"],
  [{ payload: "2", stdout: "said" }, "said"],
  [{ payload: "127" }, "It ended with exit code 127."],
] as const)("a program on the display that ends as %j is told as that", async (answer, told) => {
  expect(await called({ action: "press", key: "a" }, [answer])).toMatchObject({ isError: true, text: told });
});

test("what is done on a new display says that the former one's programs are gone", async () => {
  const { text, calls } = await called({ action: "press", key: "a" }, [{ restarted: "it was idle for long" }]);
  expect(text).toBe("[new screen, earlier programs are gone: it was idle for long]\nPressed a.");
  expect(calls[0]?.argv).toEqual(["xdotool", "key", "--", "a"]);
});

test("a call ends with its signal, also one that only waits", async () => {
  const control = new AbortController();
  const { calls } = await called({ action: "press", key: "a" }, [], control.signal);
  expect(calls[0]?.options.signal).toBe(control.signal);
  const waiting = called({ action: "wait", duration: 10 }, [], control.signal);
  const reason = new Error("stopped");
  control.abort(reason);
  expect(await waiting.catch((error: unknown) => error)).toBe(reason);
});

test("the screen is what an agent acts on there, and no text or command can become another argument", async () => {
  const { displays } = displaysByHand();
  expect(computerUse({ displays, size }).actsOn).toBe("screen");
  for (const input of [
    { action: "typing", text: "a\0key\0Return" },
    { action: "launch", command: "a\0b" },
  ]) {
    const { isError, calls } = await called(input);
    expect([isError, calls.length]).toEqual([true, 0]);
  }
});

test("a drag begins where the pointer is, and a picture shows where that was", async () => {
  const at = { stdout: "X=3\nY=4\nSCREEN=0\nWINDOW=12\n" };
  const drag = await called({ action: "drag_to", x: 13, y: 9 }, [at]);
  expect(drag.text).toBe("Dragged from (3, 4) to (13, 9).");
  expect(drag.calls[0]?.argv).toEqual(["xdotool", "getmouselocation", "--shell"]);
  const { text, images, calls } = await called({ action: "screenshot" }, [at, { stdout: pictureOf(size) }]);
  expect(text).toBe("The screen (20 × 10, pointer at (3, 4)), saved as kept/screenshot.png.");
  expect(await new Bun.Image(Buffer.from(images?.[0]?.data ?? "", "base64")).metadata()).toMatchObject(size);
  // No more than a whole picture is read of a file that programs there can write.
  expect(calls[1]?.argv.slice(0, 4)).toEqual(["head", "-c", String(65_536 + 800), "--"]);
  expect((await called({ action: "screenshot" }, [at, { stdout: "x" }])).isError).toBe(true);
});

test("a program that was started is told with what it said so far", async () => {
  const started = await called({ action: "launch", command: "xterm" });
  expect(started.text).toBe("Started. Take a screenshot to see it.");
  expect(started.calls[0]?.argv.at(-1)).toBe("xterm");
  expect((await called({ action: "launch", command: "x" }, [{ stdout: " done\n" }])).text).toBe("done");
});

test("displays are where sockets are private, as large as asked for, and a failure to start one says why", async () => {
  expect(displayTiers).toEqual(["srt", "bwrap"]);
  const asked: SandboxCommand[] = [];
  const sandbox = {
    async spawn(command: SandboxCommand) {
      asked.push(command);
      const byHand = processByHand();
      byHand.says("stderr", "Xvfb: no memory\n");
      byHand.exits(1);
      return byHand.process;
    },
  } as unknown as Sandbox;
  await using place = await workspaceForTest();
  const displays = createDisplays(sandbox, size);
  const options = { timeoutMs: 1_000, signal: new AbortController().signal, onOutput: () => undefined };
  await expect(displays.run({ workspace: place.workspace }, "true", options)).rejects.toThrow(
    "The display did not start: Xvfb: no memory",
  );
  expect(asked).toMatchObject([
    { workspace: place.workspace.root, env: { DISPLAY: ":0" }, limits: { cpuSeconds: 3_600 } },
  ]);
  expect(asked[0]?.argv.slice(4, 6)).toEqual(["20x10", "/tmp/display"]);
  // Letters without keys get some.
  expect(asked[0]?.argv.at(6)).toContain("U00E9,U00C9");
  await displays.close();
});

test("which programs are missing is asked in a folder that is gone afterwards", async () => {
  const folders: string[] = [];
  const sandbox = {
    user: undefined,
    async spawn({ workspace, argv }: SandboxCommand) {
      folders.push(workspace);
      expect(existsSync(workspace)).toBe(true);
      const byHand = processByHand();
      byHand.says("stdout", `${argv.at(-1)}\n`);
      byHand.exits(0);
      return byHand.process;
    },
  } as unknown as Sandbox;
  expect(await missingPrograms(sandbox, ["Xvfb", "xdotool"])).toEqual(["Xvfb"]);
  const failing = { ...sandbox, spawn: () => Promise.reject(new Error("no sandbox")) } as unknown as Sandbox;
  await expect(missingPrograms(failing, ["Xvfb"])).rejects.toThrow("no sandbox");
  expect(folders.map((folder) => existsSync(folder))).toEqual([false]);
});
