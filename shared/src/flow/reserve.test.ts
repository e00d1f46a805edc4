import { expect, test } from "bun:test";
import type { Run } from "../core/runs/run.ts";
import { noUsage } from "../core/usage.ts";
import { newState, type StartedFlow } from "./flow-state.ts";
import { release, reserve } from "./reserve.ts";

const limits = { asks: 3, tokens: 1_000, usd: 2, wallMs: 60_000 };
let now = 0;
const run = { step: (_: string, work: (step: object) => unknown) => work({ now: () => now }) } as unknown as Run;

function started(over: Partial<typeof limits> = {}) {
  now = 0;
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits: { ...limits, ...over } };
  return newState(begun as unknown as StartedFlow, { hops: 0 });
}

const reserved = (state: ReturnType<typeof started>) => reserve(run, state, undefined);

test("an ask gets what is left, and its return makes room again", async () => {
  const state = started();
  const first = await reserved(state);
  expect(first).toEqual({ budget: { tokens: 1_000, usd: 2, wallMs: 60_000 }, deadlineMs: 60_000 });
  release(state, first);
  now = 20_000;
  expect((await reserved(state)).deadlineMs).toBe(40_000);
});

test.each([
  ["step_limit", { asks: 0 }, {}, 0],
  ["token_limit", {}, { tokens: 1_000 }, 0],
  ["token_limit", {}, { tokens: 1_500 }, 0],
  ["cost_limit", {}, { usd: 2 }, 0],
  ["cost_limit", {}, { usd: 2.5 }, 0],
  ["time_limit", {}, {}, 60_000],
] as const)("a flow that has nothing left asks no more: %s with %j and %j spent", async (code, over, spent, at) => {
  const state = started(over);
  state.spent = { ...noUsage, ...spent };
  now = at;
  await expect(reserved(state)).rejects.toMatchObject({ code });
});

test("as many asks as the flow may make are made, each with the turns that its caller allows", async () => {
  const state = started();
  const allowed = { ...state, stepsPerTask: 5 };
  for (let n = 0; n < limits.asks; n++) {
    const each = await reserved(allowed);
    expect(each.budget.steps).toBe(5);
    release(allowed, each);
  }
  await expect(reserved(allowed)).rejects.toMatchObject({ code: "step_limit" });
  expect((await reserved(state)).budget).not.toHaveProperty("steps");
});

test("a flow that may spend no money asks agents that cost none", async () => {
  expect((await reserved(started({ usd: 0 }))).budget.usd).toBe(0);
});

test.each([
  [{ expected: 1, branches: 1, underWay: 0, ownCalls: false }, 1_000],
  [{ expected: 4, branches: 1, underWay: 0, ownCalls: false }, 250],
  [{ expected: 4, branches: 1, underWay: 0, ownCalls: true }, 200],
  [{ expected: 0, branches: 1, underWay: 1, ownCalls: false }, 1_000],
  [{ expected: 0, branches: 5, underWay: 1, ownCalls: false }, 250],
  [{ expected: 2, branches: 6, underWay: 1, ownCalls: true }, 166],
])("of a flow with %j an ask gets %d of 1,000 tokens", async (order, tokens) => {
  const state = started();
  Object.assign(state, order);
  const { budget } = await reserved(state);
  expect(budget.tokens).toBe(tokens);
  expect(budget.usd).toBeCloseTo((2 * tokens) / 1_000, 2);
});

test("what other asks hold is not given away, and each counts as expected once", async () => {
  const state = started();
  state.expected = 2;
  const first = await reserved(state);
  expect([first.budget.tokens, state.expected, state.underWay]).toEqual([500, 1, 1]);
  const second = await reserved(state);
  expect([second.budget.tokens, second.budget.usd, state.expected, state.underWay]).toEqual([500, 1, 0, 2]);
  await expect(reserved(state)).rejects.toMatchObject({ code: "token_limit" });
  release(state, first);
  expect([state.underWay, state.reserved]).toEqual([1, { tokens: 500, usd: 1 }]);
});

test("an ask's own deadline counts where it is earlier, and a person's time to answer does not count as the flow's", async () => {
  const state = started();
  now = 50_000;
  expect((await reserve(run, state, 5_000)).deadlineMs).toBe(5_000);
  const patient = started();
  patient.pausedMs = 30_000;
  now = 50_000;
  const { budget, deadlineMs } = await reserve(run, patient, 90_000);
  expect([budget.wallMs, deadlineMs]).toEqual([40_000, 40_000]);
});
