import { expect, test } from "bun:test";
import { bashTool } from "./bash-tool.ts";
import type { SessionPool } from "./session-pool.ts";

test("each call may change files, and a task that is stopped has its shell ended", async () => {
  const released: unknown[] = [];
  const sessions = { release: async (workspace: unknown) => void released.push(workspace) } as unknown as SessionPool;
  const tool = bashTool({ sessions });
  expect([tool.edits, tool.family]).toEqual([true, "shell"]);
  const workspace = { root: "/w" } as never;
  await tool.release?.(workspace);
  expect(released).toEqual([workspace]);
});

test("a command has the time it names, or else the usual, and output goes to who asked", async () => {
  const asked: { readonly timeoutMs: number; readonly signal: AbortSignal }[] = [];
  const sessions = {
    async run(_: unknown, code: string, options: (typeof asked)[number]) {
      asked.push(options);
      return {
        state: "finished",
        payload: `${code === "fail" ? 3 : 0}:/w/sub`,
        ...(code === "long" && { limit: "x" }),
      };
    },
  } as unknown as SessionPool;
  const { signal } = new AbortController();
  const context = { signal, workspace: { root: "/w" }, progress: () => undefined } as never;
  const call = (input: object, timeoutSeconds?: number) =>
    bashTool({ sessions, ...(timeoutSeconds !== undefined && { timeoutSeconds }) }).call(input, context);
  for (const [input, usual, timeoutMs] of [
    [{ command: "a" }, undefined, 120_000],
    [{ command: "a" }, 7, 7_000],
    [{ command: "a", timeout: 600 }, 7, 600_000],
    [{ command: "a", timeout: 0.5 }, undefined, 500],
  ] as const) {
    const { text, isError } = await call(input, usual);
    expect([asked.at(-1)?.timeoutMs, isError]).toEqual([timeoutMs, false]);
    expect(text).toMatch(/^\[exit code 0, \d+\.\d s, cwd \.\/sub\]$/);
  }
  expect(asked[0]?.signal).toBe(signal);
  expect((await call({ command: "fail" })).isError).toBe(true);
  // Whatever came of it, it was not done.
  const cut = await call({ command: "long" });
  expect([cut.isError, cut.text.startsWith("[stopped at its limit: x, exit code 0")]).toEqual([true, true]);
  for (const timeout of [0, 601]) expect((await call({ command: "a", timeout })).isError).toBe(true);
});
