import { expect, spyOn, test } from "bun:test";
import * as z from "zod";
import * as canceling from "../a2a/ask/cancel-remote-tasks.ts";
import { AppError } from "../core/errors.ts";
import { defineFlow, type Flow, type FlowResult } from "../core/flow.ts";
import type { Run, RunEvent } from "../core/runs/run.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { entryForTest } from "../testing/flow.ts";
import { type FlowDeps, flowRun } from "./flow-run.ts";
import type { StartedFlow } from "./flow-state.ts";

/** Performs a flow's body over a run in memory; what it began from, what it told, and its end. */
async function performed(
  perform: (flow: Flow) => Promise<FlowResult>,
  {
    input = {},
    deps = {},
    isNone = true,
  }: { readonly input?: Partial<AgentInput>; readonly deps?: object; readonly isNone?: boolean } = {},
) {
  const definition = defineFlow({
    ...{ name: "tried", description: "For a test.", example: { text: "Try" }, options: z.strictObject({}) },
    perform,
  });
  const events: RunEvent[] = [];
  const results: unknown[] = [];
  const run = {
    ...{ id: "r", principal: "ann", contextId: "c", abortSignal: new AbortController().signal },
    emit: (event: RunEvent) => void events.push(event),
    step: async (_: string, work: (step: object) => unknown) => {
      const result = await work({ now: () => 7, signal: new AbortController().signal });
      results.push(result);
      return result;
    },
  };
  const engine = { list: async () => ({ runs: [], total: 0 }), events: async () => [] };
  const execution = () => ({ isNone: () => isNone, forget: () => undefined });
  const peers = { engine, underWay: { execution } };
  const agents = { list: async () => [entryForTest("one", "http://one")] };
  const model = { name: "m", capabilities: { contextWindow: 9_000 }, cost: () => 1 };
  const kind = flowRun(definition, { peers, agents, model, ...deps } as unknown as FlowDeps);
  const message = { messageId: "m1", parts: [{ type: "text" as const, text: "Go" }] };
  const end = await kind
    .execute(run as unknown as Run, { message, hops: 0, flow: {}, ...input } as never)
    .catch((error: unknown) => error);
  return { end, events, begun: results[0] as StartedFlow };
}
const done = async () => ({ answer: "done" });

test.each([
  ["a limit", new AppError("token_limit", "Spent."), "half of it", ["partial-answer"]],
  ["a limit before anything was reached", new AppError("token_limit", "Spent."), "", []],
  ["a bug", new TypeError("a bug"), "half of it", []],
] as const)(
  "a flow that ends by %s leaves what it had reached, if that can be told",
  async (_, error, reached, names) => {
    const { end, events } = await performed(async (flow) => {
      flow.reached(reached);
      throw error;
    });
    expect(end).toBe(error);
    const left = events.filter(({ type }) => type === "artifact-added");
    expect(left.map(({ name }) => name)).toEqual([...names] as never);
    if (names.length > 0) expect(left[0]).toMatchObject({ parts: [{ type: "text", text: reached }] });
  },
);

test.each<readonly [string, object, AgentInput["budget"], object]>([
  ["its own bounds", {}, undefined, { asks: 200, tokens: 10_000_000, usd: 50, wallMs: 24 * 3_600_000 }],
  ["what its caller allows", {}, { tokens: 5, usd: 1, wallMs: 9 }, { asks: 200, tokens: 5, usd: 1, wallMs: 9 }],
  [
    "no more than its own bounds",
    { limits: { asks: 2, tokens: 4, usd: 0.5, wallMs: 8 } },
    { tokens: 5, usd: 1, wallMs: 9 },
    { asks: 2, tokens: 4, usd: 0.5, wallMs: 8 },
  ],
  [
    "nothing, if its caller allows that",
    {},
    { tokens: 0, usd: 0, wallMs: 0 },
    { asks: 200, tokens: 0, usd: 0, wallMs: 0 },
  ],
])("a flow has %s", async (_, deps, budget, limits) => {
  const { begun } = await performed(done, { deps, ...(budget && { input: { budget } }) });
  expect(begun).toMatchObject({ limits, startedAt: 7, contextWindow: 9_000, body: 1 });
});

test("the message that starts a flow is heard as one, and the answer is its last artifact", async () => {
  const { events, end } = await performed(async () => ({ answer: "done", data: 0 }));
  expect(events).toMatchObject([
    { type: "message-heard", messageId: "m1", as: "message" },
    { type: "artifact-added", name: "answer", parts: [{ text: "done" }, { type: "data", data: 0 }] },
  ]);
  expect(end).toEqual({ answer: "done", data: 0 });
});

test("however a flow ends, the tasks that it left open at agents are canceled", async () => {
  using cancelOpen = spyOn(canceling, "cancelOpen").mockResolvedValue(0);
  await performed(done, { isNone: false });
  await performed(() => Promise.reject(new AppError("task_failed", "No.")), { isNone: false });
  expect(cancelOpen).toHaveBeenCalledTimes(2);
  await performed(done);
  expect(cancelOpen).toHaveBeenCalledTimes(2);
});
