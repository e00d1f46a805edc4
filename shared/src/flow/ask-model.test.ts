import { expect, test } from "bun:test";
import type { Model, ModelAskOptions, ModelRequest } from "../core/model.ts";
import type { Run } from "../core/runs/run.ts";
import { noUsage } from "../core/usage.ts";
import { ModelAway } from "../models/model-failure.ts";
import { estimateTokens } from "../models/tokens.ts";
import { askFlowModel } from "./ask-model.ts";
import { newState, type StartedFlow } from "./flow-state.ts";

const limits = { asks: 3, tokens: 10_000, usd: 1, wallMs: 60_000 };
const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "Go" }] }];
const input = estimateTokens(messages, []);

/**
 * One of a flow's own calls, at this time and with this state; its request, or why there was none.
 */
async function called(changes: object, { now = 0, window = 1_000_000 } = {}): Promise<ModelRequest> {
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits, contextWindow: window };
  const state = Object.assign(newState(begun as unknown as StartedFlow, { hops: 0 }), changes);
  const requests: ModelRequest[] = [];
  const usage = { inputTokens: 7, cachedInputTokens: 0, outputTokens: 5, costUsd: 0.25, source: "provider" as const };
  const model = {
    capabilities: { maxOutputTokens: 20_000 },
    // A dollar for 10,000 tokens of output, nothing for input.
    cost: ({ outputTokens }: { outputTokens: number }) => outputTokens / 10_000,
    async *ask(request: ModelRequest, { principal }: ModelAskOptions) {
      // Whose call it is decides whose turn it is where calls wait.
      expect(principal).toBe("ann");
      requests.push(request);
      yield { type: "reply", reply: { text: "so", toolCalls: [], finish: "stop", usage, model: "m" } };
    },
  } as unknown as Model;
  const step = {
    key: "run/0",
    now: () => now,
    signal: new AbortController().signal,
    emit: () => undefined,
    progress: () => undefined,
  };
  const run = {
    principal: "ann",
    step: (_: string, work: (context: object) => unknown) => work(step),
  } as unknown as Run;
  const before = state.spent;
  await askFlowModel(run, state, "think", { messages, tools: [], toolChoice: "none" }, { model });
  expect([state.spent.tokens - before.tokens, state.spent.usd - before.usd]).toEqual([12, 0.25]);
  const [request] = requests;
  if (request === undefined || requests.length > 1) throw new Error(`${requests.length} requests were made`);
  return request;
}

test.each([
  ["all of it where nothing is spent or lent", {}, {}, 10_000 - input],
  ["not the tokens that are spent", { spent: { ...noUsage, tokens: 4_000 } }, {}, 6_000 - input],
  ["nor those that are lent to asks at work", { reserved: { tokens: 3_000, usd: 0 } }, {}, 7_000 - input],
  ["nor the money that is spent", { spent: { ...noUsage, usd: 0.5 } }, {}, 5_000],
  ["nor the money that is lent", { reserved: { tokens: 0, usd: 0.75 } }, {}, 2_500],
  [
    "nor either",
    { spent: { ...noUsage, tokens: 2_000, usd: 0.125 }, reserved: { tokens: 3_000, usd: 0.125 } },
    {},
    5_000 - input,
  ],
  ["nor more than the window", {}, { window: 2_000 }, 2_000 - input],
] as const)("a flow's own call may use what its budget has left: %s", async (_, changes, at, most) => {
  expect((await called(changes, at)).maxOutputTokens).toBe(most);
});

test.each([
  ["token_limit", { reserved: { tokens: 9_800, usd: 0 } }],
  ["token_limit", { spent: { ...noUsage, tokens: 9_800 } }],
  ["cost_limit", { reserved: { tokens: 0, usd: 0.99 } }],
  ["cost_limit", { spent: { ...noUsage, usd: 0.99 } }],
] as const)("a call that what is left cannot pay for is not made: %s with %j", async (code, changes) => {
  await expect(called(changes)).rejects.toMatchObject({ code });
});

/**
 * How long a flow waits in all for a model that never answers, by a clock that its waiting moves.
 */
async function waited(tokens: number, wasReached: boolean): Promise<number> {
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits, contextWindow: 1_000_000 };
  const state = Object.assign(newState(begun as unknown as StartedFlow, { hops: 0 }), {
    spent: { ...noUsage, tokens },
  });
  let now = 0;
  const model = {
    capabilities: { maxOutputTokens: 100 },
    cost: () => 0,
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *ask() {
      throw new ModelAway("model_unavailable", "Status 503.", { wasReached, retryAfterMs: undefined });
    },
  } as unknown as Model;
  const step = { key: "run/0", now: () => now, signal: new AbortController().signal, emit: () => undefined };
  const run = {
    step: (_: string, work: (context: object) => unknown) => work(step),
    async sleep(ms: number) {
      now += ms;
      if (now > 10 * limits.wallMs) throw new Error("It waits on.");
    },
  } as unknown as Run;
  const modelPauses = { firstMs: 7_000, longestMs: 7_000 };
  const request = { messages, tools: [], toolChoice: "none" } as const;
  await expect(askFlowModel(run, state, "think", request, { model, modelPauses })).rejects.toBeInstanceOf(ModelAway);
  return now;
}

test("a call ends with the flow's time, of which what it has worked is gone", async () => {
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits, contextWindow: 10_000 };
  const state = newState(begun as unknown as StartedFlow, { hops: 0 });
  const model = {
    capabilities: { maxOutputTokens: 20_000 },
    cost: () => 0,
    async *ask(_: ModelRequest, { signal }: ModelAskOptions) {
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    },
  } as unknown as Model;
  const step = { key: "run/0", now: () => limits.wallMs - 30, signal: new AbortController().signal };
  const run = { principal: "ann", step: (_: string, work: (context: object) => unknown) => work(step) };
  const request = { messages, tools: [], toolChoice: "none" } as const;
  const asked = askFlowModel(run as unknown as Run, state, "think", request, { model });
  await expect(asked).rejects.toMatchObject({ code: "time_limit" });
}, 20_000);

test("a model that is away is waited for while the flow has time, and not at all if it never answered", async () => {
  expect(await waited(0, false)).toBe(0);
  for (const known of [waited(1, false), waited(0, true)]) {
    const ms = await known;
    expect([ms > limits.wallMs / 2, ms < limits.wallMs]).toEqual([true, true]);
  }
});
