import { expect, test } from "bun:test";
import type { Run } from "../core/run.ts";
import { noUsage } from "../core/usage.ts";
import { type Begun, newState } from "./flow-state.ts";
import { release, reserve } from "./reserve.ts";

const limits = { asks: 3, tokens: 1_000, usd: 2, wallMs: 60_000 };
let now = 0;
const run = { step: (_: string, work: (step: object) => unknown) => work({ now: () => now }) } as unknown as Run;

function started(over: Partial<typeof limits> = {}) {
  now = 0;
  const begun = { goal: "", files: [], earlier: {}, startedAt: 0, limits: { ...limits, ...over } };
  return newState(begun as unknown as Begun, { hops: 0 });
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
