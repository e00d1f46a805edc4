import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/define-tool.ts";
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
