import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/tools/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { detectLoops } from "./detect-loops.ts";
import type { AgentState } from "./task/agent-state.ts";

const again = { calls: [{ name: "look", args: {} }] };

function looking(answer: (n: number) => string) {
  let n = 0;
  return defineTool({
    name: "look",
    description: "Looks.",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => answer(n++),
  });
}

for (const [what, answer] of [
  ["a time", (n: number) => `2026-11-21T04:50:0${n}.123Z error: no such host`],
  ["a time of day", (n: number) => `[04:50:0${n}] error: no such host`],
  ["a made-up id", () => `request ${crypto.randomUUID()} failed`],
  ["an address", (n: number) => `<Thing object at 0x7f00deadbee${n}> is broken`],
  ["how long it took", (n: number) => `[exit code 1, ${n}.4 s]`],
  ["the file the whole is in", () => "long ".repeat(5_000)],
] as const) {
  test(`a loop is recognized although each result contains ${what}`, async () => {
    await using agent = await agentForTest({ script: () => again, tools: [looking(answer)] });
    expect((await agent.run("Look.")).record.error?.code).toBe("stuck");
  });
}

test("the same call is not a loop while its results change", async () => {
  await using agent = await agentForTest({
    script: (_, n) => (n < 12 ? again : { text: "done" }),
    tools: [looking((n) => `${n * 8} % done`)],
  });
  expect((await agent.run("Wait for it.")).record.status).toBe("completed");
});

test("the same call with the same result is not a loop while what the agent sees changes, and one when it stays", async () => {
  let page = 0;
  const look = async () => ({ text: `page ${page}`, mark: `${page}` });
  const turning = looking(() => "Clicked.");
  await using turns = await agentForTest({
    script: (_, n) => (n < 12 ? again : { text: "done" }),
    tools: [
      looking(() => {
        page += 1;
        return "Clicked.";
      }),
    ],
    agent: { look },
  });
  expect((await turns.run("Turn the pages.")).record.status).toBe("completed");
  await using stays = await agentForTest({ script: () => again, tools: [turning], agent: { look } });
  expect((await stays.run("Turn the pages.")).record.error?.code).toBe("stuck");
});

test("polling something whose answer stays the same for long is not a loop", async () => {
  const patient = detectLoops(async (task) => {
    task.messages.push({ role: "assistant", text: "", toolCalls: [{ id: "1", name: "bash", arguments: "{}" }] });
    task.messages.push({ role: "tool", callId: "1", name: "bash", text: "still running", isError: false });
    task.callsMs += 30_000;
    return "continue";
  });
  const task = { messages: [], recentTurns: [], hints: [], callsMs: 0 } as unknown as AgentState;
  for (let turn = 0; turn < 20; turn++) expect(await patient(task)).toBe("continue");
  expect(task.hints).toEqual([]);
});

/** A task that makes these calls of one tool, one a turn, each of which takes so long. */
function turning(calls: readonly string[], milliseconds = 0) {
  const notices: string[] = [];
  const task = {
    messages: [],
    recentTurns: [],
    hints: [],
    callsMs: 0,
    run: { emit: ({ text }: { readonly text: string }) => void notices.push(text) },
  } as unknown as AgentState;
  const left = [...calls];
  const turn = detectLoops(async ({ messages }) => {
    const name = left.shift() ?? "";
    messages.push({ role: "assistant", text: "", toolCalls: [{ id: crypto.randomUUID(), name, arguments: "{ }" }] });
    messages.push({ role: "tool", callId: "1", name, text: "same", isError: false });
    task.callsMs += milliseconds;
    return "continue";
  });
  return { task, notices, turn };
}

test("the third time is told, the fourth asks for another strategy, the fifth ends the task", async () => {
  const { task, notices, turn } = turning(["a", "a", "a", "a", "a"]);
  await turn(task);
  await turn(task);
  expect([notices, task.hints]).toEqual([[], []]);
  await turn(task);
  expect(notices).toEqual(["The same turn was repeated 3 times: a({ })."]);
  expect(task.hints).toEqual([expect.stringContaining("You did the same thing 3 times with the same result: a({ })")]);
  await turn(task);
  expect(task.hints[1]).toContain("You are going in circles: a({ }), 4 times.");
  await expect(turn(task)).rejects.toMatchObject({ code: "stuck" });
});

test("turns are compared with the newest ten, in any order", async () => {
  const { task, notices, turn } = turning(["a", "a", ..."bcdefghi", "a", "a"]);
  for (let n = 0; n < 11; n++) await turn(task);
  // The first of them is the eleventh from the end by now.
  expect(notices).toHaveLength(0);
  await turn(task);
  expect(notices).toHaveLength(0);
  const within = turning(["a", ..."bcdefgh", "a", "a"]);
  for (let n = 0; n < 10; n++) await within.turn(within.task);
  expect(within.notices).toHaveLength(1);
});

test.each([
  [4_999, 1],
  [5_000, 0],
])("three turns of %d ms each bring %d notices", async (milliseconds, told) => {
  const { task, notices, turn } = turning(["a", "a", "a"], milliseconds);
  for (let n = 0; n < 3; n++) await turn(task);
  expect(notices).toHaveLength(told);
});

test("the turn that ends a task is never one too many", async () => {
  const task = { messages: [], recentTurns: [], hints: [], callsMs: 0 } as unknown as AgentState;
  const ending = detectLoops(async () => "done");
  for (let n = 0; n < 6; n++) expect(await ending(task)).toBe("done");
});
