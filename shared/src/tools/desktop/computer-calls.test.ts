import { expect, test } from "bun:test";
import type { SessionPool } from "../shell/session-pool.ts";
import { computerUse } from "./computer-use.ts";

const size = { width: 100, height: 100 };
const released: string[] = [];
const displays = { release: async (root: { root: string }) => void released.push(root.root) } as unknown as SessionPool;
const tool = computerUse({ displays, size });

test("only calls that look, wait or move the pointer are made again after a crash", () => {
  const again = ["screenshot", "wait", "move_to"];
  const actions = ["launch", "click", "drag_to", "scroll", "mouse_down", "mouse_up", "typing", "press", "hotkey"];
  for (const action of again) expect(`${action} ${tool.effect({ action, x: 1, y: 1 })}`).toBe(`${action} idempotent`);
  for (const action of actions) expect(`${action} ${tool.effect({ action, x: 1, y: 1 })}`).toBe(`${action} once`);
});

test("no call on the screen stands for others of its kind, and a canceled task's display is released", async () => {
  expect(tool.sameKind?.({ action: "click", x: 1, y: 1 }, "sends")).toBeUndefined();
  expect(tool.sameKind).toBeDefined();
  await tool.release?.({ root: "/w" } as never);
  expect(released).toEqual(["/w"]);
});
