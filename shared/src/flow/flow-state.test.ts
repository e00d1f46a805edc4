import { expect, test } from "bun:test";
import { type Begun, newState, spend } from "./flow-state.ts";

test("an agent that does not report its usage makes the sum a lower bound", () => {
  const state = newState({ goal: "Go", files: [], earlier: { text: "", files: [] } } as unknown as Begun, { hops: 0 });
  spend(state, { tokens: 5, usd: 1, unpriced: false });
  expect(state.spent).toMatchObject({ tokens: 5, usd: 1, unpriced: false });
  spend(state, undefined);
  expect(state.spent).toMatchObject({ tokens: 5, usd: 1, unpriced: true });
});
