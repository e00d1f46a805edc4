import { expect, test } from "bun:test";
import type { Model, Usage } from "../../core/model.ts";
import type { AgentState } from "../task/agent-state.ts";
import { hasPrice, openSubBudget, roomForAnswer, spend, timeLimit, withinBudget, workDeadline } from "./spending.ts";

/** As much of a task as lends. */
function lender(spent = { tokens: 200, usd: 1, unpriced: false, workMs: 4_000 }) {
  const limits = { tokens: 1_000, usd: 5, wallMs: 10_000 };
  return { limits, spent, reserved: { tokens: 0, usd: 0 } } as unknown as AgentState;
}

test("concurrent sub-budgets never exceed what is left, and each leaves something", () => {
  const task = lender();
  const [first, second, third] = [openSubBudget(task, 0.5), openSubBudget(task, 0.5), openSubBudget(task, 0.5)];
  expect(first.budget).toEqual({ tokens: 400, usd: 2, wallMs: 6_000 });
  expect([second.budget, third.budget]).toMatchObject([
    { tokens: 200, usd: 1 },
    { tokens: 100, usd: 0.5 },
  ]);
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

/** A model with these prices per token, in USD, or without a price. */
const modelAt = (price: { readonly input: number; readonly output: number } | null, maxOutputTokens = 1_000_000) =>
  ({
    capabilities: { maxOutputTokens },
    cost: ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
      price === null ? null : inputTokens * price.input + outputTokens * price.output,
  }) as unknown as Model;
const free = modelAt({ input: 0, output: 0 });

test("an answer gets the tightest of the task's tokens, its money, the window and the model's own bound", () => {
  const limits = { tokens: 10_000, usd: 1, wallMs: 1_000 };
  const spent = { tokens: 1_000, usd: 0.5, unpriced: false, workMs: 0 };
  const account = { limits, spent, contextWindow: 100_000 };
  expect(roomForAnswer(account, 2_000, free)).toBe(7_000);
  expect(roomForAnswer(account, 2_000, modelAt(null))).toBe(7_000);
  expect(roomForAnswer(account, 2_000, modelAt({ input: 0.0001, output: 0.0001 }))).toBe(3_000);
  expect(roomForAnswer({ ...account, contextWindow: 6_000 }, 2_000, free)).toBe(4_000);
  expect(roomForAnswer({ ...account, contextWindow: 2_000 }, 2_000, free)).toBe(256);
  expect(roomForAnswer(account, 2_000, modelAt(null, 500))).toBe(500);
});

test("a model that takes money for one side alone is held to the limit of money", () => {
  const spent = { tokens: 0, usd: 0, unpriced: false, workMs: 0 };
  const account = { limits: { tokens: 100_000, usd: 1, wallMs: 1_000 }, spent, contextWindow: 100_000 };
  expect(roomForAnswer(account, 500, modelAt({ input: 0, output: 0.001 }))).toBe(1_000);
  // A free answer has no price that could be too much.
  expect(roomForAnswer(account, 500, modelAt({ input: 0.001, output: 0 }))).toBe(99_500);
  // Nothing is enough for what costs nothing.
  const broke = { ...account, limits: { ...account.limits, usd: 0 } };
  expect(roomForAnswer(broke, 500, free)).toBe(99_500);
});

test("a deadline leaves what is left of the task's time, and says how long that time was", async () => {
  const task = { ...lender({ tokens: 0, usd: 0, unpriced: false, workMs: 9_990 }), contextWindow: 1 };
  const began = performance.now();
  const deadline = workDeadline(task, new AbortController().signal);
  expect([deadline.signal.aborted, deadline.passed()]).toEqual([false, false]);
  await new Promise((fired) => deadline.signal.addEventListener("abort", fired, { once: true }));
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(timeLimit(task)).toMatchObject({
    code: "time_limit",
    message: "This task's limit of 10 s of work is reached.",
  });
});

test.each<[Model, boolean]>([
  [free, true],
  [modelAt({ input: 1, output: 1 }), true],
  [modelAt(null), false],
])("a limit of money holds for a model with a price, and a price of 0 is one", (model, holds) => {
  expect(hasPrice(model)).toBe(holds);
});

test("a model is asked if the task has 256 tokens or their price left, and not for less", () => {
  const spent = { tokens: 0, usd: 0, unpriced: false, workMs: 0 };
  const account = (tokens: number, usd: number) => ({
    limits: { tokens, usd, wallMs: 1_000 },
    spent,
    contextWindow: 100_000,
  });
  const priced = modelAt({ input: 1, output: 1 });
  expect(roomForAnswer(account(1_256, 9), 1_000, free)).toBe(256);
  expect(() => roomForAnswer(account(1_255, 9), 1_000, free)).toThrow(expect.objectContaining({ code: "token_limit" }));
  expect(roomForAnswer(account(9_999, 1_256), 1_000, priced)).toBe(256);
  expect(() => roomForAnswer(account(9_999, 1_255), 1_000, priced)).toThrow(
    expect.objectContaining({ code: "cost_limit" }),
  );
});

const usage: Usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, costUsd: 0.25, source: "provider" };

test("an answer and what broke off before it are spent, and one without a price makes the sum unpriced for good", () => {
  const task = lender({ tokens: 0, usd: 0, unpriced: false, workMs: 0 });
  spend(task, { usage, discarded: usage, milliseconds: 7 });
  expect(task.spent).toEqual({ tokens: 30, usd: 0.5, unpriced: false, workMs: 7 });
  spend(task, { usage: { ...usage, costUsd: null }, milliseconds: 1 });
  spend(task, { usage, milliseconds: 1 });
  expect(task.spent).toEqual({ tokens: 60, usd: 0.75, unpriced: true, workMs: 9 });
});

test("a reservation that was not used is returned", () => {
  const task = lender();
  openSubBudget(task, 0.5).release(undefined);
  expect(task.reserved).toEqual({ tokens: 0, usd: 0 });
  expect(task.spent).toMatchObject({ tokens: 200, usd: 1 });
});

test.each<[{ tokens: number; usd: number; workMs: number }, string[]]>([
  [{ tokens: 799, usd: 0, workMs: 0 }, []],
  [{ tokens: 800, usd: 0, workMs: 0 }, ["tokens"]],
  [{ tokens: 0, usd: 4, workMs: 0 }, ["money"]],
  [{ tokens: 0, usd: 0, workMs: 8_000 }, ["time"]],
  [{ tokens: 900, usd: 5, workMs: 9_999 }, ["tokens and money and time"]],
])("of a budget of which %j is spent the model is told that little is left of: %j", async (spent, told) => {
  const hints: string[] = [];
  const task = { ...lender({ ...spent, unpriced: false }), hints };
  await withinBudget(async () => [])(task);
  expect(task.hints).toEqual(told.map((what) => `Little is left of this task's ${what}. Finish with what you have.`));
});

test("a task whose time is used up to the millisecond does not think again", async () => {
  const task = lender({ tokens: 0, usd: 0, unpriced: false, workMs: 10_000 });
  let thought = 0;
  const think = withinBudget(async () => {
    thought++;
    return [];
  });
  await expect(think(task)).rejects.toMatchObject({ code: "time_limit" });
  expect(thought).toBe(0);
});

test("a deadline has passed when its time is over, not when the task was canceled", async () => {
  const task = { ...lender(), contextWindow: 1 };
  const used = { ...task, spent: { ...task.spent, workMs: 10_000 } };
  const both = workDeadline(used, AbortSignal.abort());
  const passed = workDeadline(used, new AbortController().signal);
  await new Promise((fired) => passed.signal.addEventListener("abort", fired, { once: true }));
  expect(passed.passed()).toBe(true);
  const canceled = workDeadline(task, AbortSignal.abort());
  expect([canceled.signal.aborted, canceled.passed()]).toEqual([true, false]);
  expect(both.passed()).toBe(false);
});
