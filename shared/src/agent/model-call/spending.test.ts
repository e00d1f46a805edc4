import { expect, test } from "bun:test";
import type { AgentState } from "../task/agent-state.ts";
import { openSubBudget } from "./spending.ts";

/** As much of a task as lends. */
function lender(spent = { tokens: 200, usd: 1, unpriced: false, workMs: 4_000 }) {
  const limits = { tokens: 1_000, usd: 5, wallMs: 10_000 };
  return { limits, spent, reserved: { tokens: 0, usd: 0 } } as unknown as AgentState;
}

test("concurrent sub-budgets never exceed what is left, and each leaves something", () => {
  const task = lender();
  const [first, second, third] = [openSubBudget(task, 0.5), openSubBudget(task, 0.5), openSubBudget(task, 0.5)];
  expect(first.budget).toEqual({ tokens: 400, usd: 2, wallMs: 6_000 });
  expect([second.budget.tokens, third.budget.tokens]).toEqual([200, 100]);
});

test("the used part of a sub-budget is spent, and the rest is available again", () => {
  const task = lender();
  openSubBudget(task, 0.5).release({ tokens: 100, usd: 0.5, unpriced: true });
  expect(task.spent).toMatchObject({ tokens: 300, usd: 1.5, unpriced: true });
  expect(openSubBudget(task, 1).budget).toMatchObject({ tokens: 700, usd: 3.5 });
});

test("a task with nothing left opens the smallest possible sub-budget", () => {
  const task = lender({ tokens: 2_000, usd: 9, unpriced: false, workMs: 20_000 });
  expect(openSubBudget(task, 0.5).budget).toEqual({ tokens: 1, usd: 0, wallMs: 1 });
});
