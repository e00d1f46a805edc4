import { expect, test } from "bun:test";
import { newState, type StartedFlow, spend, workedMs } from "./flow-state.ts";

test("an agent that does not report its usage makes the sum a lower bound", () => {
  const state = newState({ goal: "Go", files: [], earlier: { text: "", files: [] } } as unknown as StartedFlow, {
    hops: 0,
  });
  spend(state, { tokens: 5, usd: 1, unpriced: false });
  expect(state.spent).toMatchObject({ tokens: 5, usd: 1, unpriced: false });
  spend(state, undefined);
  expect(state.spent).toMatchObject({ tokens: 5, usd: 1, unpriced: true });
});

test("a task has the words of its user, and the sources of its caller, its files and what was done earlier", () => {
  const begun = (takenIn?: readonly string[]) =>
    ({
      goal: "Go",
      files: [{ type: "file" }, { type: "data" }],
      earlier: { text: "", files: [], ...(takenIn && { takenIn }) },
    }) as unknown as StartedFlow;
  const of = (input: Omit<Parameters<typeof newState>[1], "message">, takenIn?: readonly string[]) => {
    const state = newState(begun(takenIn), input);
    return [state.said, [...state.takenIn], state.stepsPerTask];
  };
  expect(of({ hops: 0 })).toEqual([["Go"], ["file", "data"], undefined]);
  expect(of({ hops: 0, said: ["never"] }, ["web"])).toEqual([["Go"], ["file", "data", "web"], undefined]);
  expect(of({ hops: 1, budget: { steps: 4 } })).toEqual([[], ["task", "file", "data"], 4]);
  expect(of({ hops: 1, said: ["Buy", "it"], takenIn: ["bash"] })).toEqual([
    ["Buy", "it"],
    ["bash", "file", "data"],
    undefined,
  ]);
});

test("time at work is counted from the start, without the waits for a person", () => {
  const state = newState({ goal: "", files: [], earlier: {}, startedAt: 1_000 } as unknown as StartedFlow, { hops: 0 });
  state.pausedMs = 300;
  expect(workedMs(state, { now: () => 2_000 })).toBe(700);
});
