import { expect, test } from "bun:test";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import { screenInTurn } from "./screen-in-turn.ts";
import type { SharedScreens } from "./shared-screens.ts";

/** A screen that a person may hold and have used, and a tool that writes down its calls. */
function scene({ isHeld = false, wasUsed = true, isError = false } = {}) {
  const calls: unknown[] = [];
  const told: string[] = [];
  const holds = {
    isHeld: () => isHeld,
    turn: (_workspace: unknown, signal: AbortSignal, work: (wasUsed: boolean) => Promise<unknown>) => {
      calls.push(signal);
      return work(wasUsed);
    },
    seen: () => void calls.push("seen"),
  };
  const tool = {
    effect: (input: { readonly action?: string }) => (input.action === "click" ? "once" : "idempotent"),
    call: async (input: unknown) => {
      calls.push(input);
      return { text: "the screen", isError };
    },
  } as unknown as Tool;
  const screens = { holds, usedText: () => "A person used the screen." } as unknown as SharedScreens;
  const { signal } = new AbortController();
  const context = { signal, workspace: {}, progress: (text: string) => void told.push(text) } as unknown as ToolContext;
  const call = (input: unknown) => screenInTurn(tool, screens).call(input, context);
  return { call, calls, told, signal };
}

test.each([
  ["click", true, "Not done: A person used the screen. It may not be as you saw it.", []],
  ["wait", true, "the screen", [{ action: "wait" }]],
  ["screenshot", true, "A person used the screen.\nthe screen", [{ action: "screenshot" }, "seen"]],
  ["click", false, "the screen", [{ action: "click" }]],
  ["screenshot", false, "the screen", [{ action: "screenshot" }, "seen"]],
])("%s on a screen that a person used since it was seen (%p) says %j", async (action, wasUsed, text, done) => {
  const it = scene({ wasUsed });
  const result = await it.call({ action });
  expect([result.text.startsWith(text), result.isError]).toEqual([true, text.startsWith("Not done")]);
  expect(it.calls).toEqual([it.signal, ...done]);
  expect(it.told).toEqual([]);
});

test("a look that failed has shown nothing, and whoever waits for a person is told", async () => {
  const failing = scene({ isError: true });
  expect(await failing.call({ action: "screenshot" })).toEqual({ text: "the screen", isError: true });
  expect(failing.calls).not.toContain("seen");
  const held = scene({ isHeld: true });
  await held.call({ action: "wait" });
  expect(held.told).toEqual(["A person has the screen. The call waits until they hand it back.\n"]);
  const odd = scene({ wasUsed: false });
  expect((await odd.call("no object")).text).toBe("the screen");
});
