import { expect, test } from "bun:test";
import type { EventOf, ReadEvent } from "./events/events.ts";
import { addUsage, countEvent, noCount, type TaskUsage, usageOf, usageOfAnswers } from "./usage.ts";

const call = (inputTokens: number, outputTokens: number, costUsd: number | null) =>
  ({ inputTokens, cachedInputTokens: 7, outputTokens, costUsd, source: "provider" }) as const;
const task = (tokens: number, over: Partial<TaskUsage> = {}): TaskUsage => ({
  tokens,
  outputTokens: 1,
  usd: 0.5,
  unpriced: false,
  ...over,
});
const total = (...events: readonly ReadEvent[]) => usageOf(events.reduce(countEvent, noCount));
const of = (askId: string) => ({ askId, agent: "swe" });
const progressed = (askId: string, usedSoFar?: TaskUsage): EventOf<"agent-progressed"> => ({
  type: "agent-progressed",
  ...of(askId),
  text: "at it",
  ...(usedSoFar && { usedSoFar }),
});
const answered = (askId: string, usage?: TaskUsage): EventOf<"agent-answered"> => ({
  type: "agent-answered",
  ...of(askId),
  state: "completed",
  files: [],
  ...(usage && { usage }),
});

test("usage adds up field by field, and one unpriced part leaves the sum unpriced", () => {
  for (const [one, other] of [
    [true, false],
    [false, true],
    [true, true],
  ] as const)
    expect(addUsage(task(1, { unpriced: one }), task(2, { unpriced: other }))).toEqual({
      tokens: 3,
      outputTokens: 2,
      usd: 1,
      unpriced: true,
    });
  const { outputTokens: _, ...unseparated } = task(4);
  expect(addUsage(unseparated, task(1))).toEqual(task(5, { outputTokens: 1, usd: 1 }));
  expect(addUsage(task(1), unseparated)).toEqual(task(5, { outputTokens: 1, usd: 1 }));
});

test("a call counts input and output, what was discarded before it too, and a price of 0 is a price", () => {
  expect(usageOfAnswers({ usage: call(10, 3, 0) })).toEqual({ tokens: 13, outputTokens: 3, usd: 0, unpriced: false });
  expect(usageOfAnswers({ usage: call(10, 3, 0.5), discarded: call(20, 4, null) })).toEqual({
    tokens: 37,
    outputTokens: 7,
    usd: 0.5,
    unpriced: true,
  });
});

test("a summary that never came counts by what was discarded for it", () => {
  const compacted = { type: "context-compacted", summary: "", kept: 1 } as const;
  expect(total({ ...compacted, discarded: call(10, 3, 1) })).toEqual({
    tokens: 13,
    outputTokens: 3,
    usd: 1,
    unpriced: false,
  });
  expect(total(compacted).tokens).toBe(0);
});

test("two agents at work count side by side, each by its newest report, until each has its final one", () => {
  const working = [progressed("a", task(10)), progressed("b", task(100)), progressed("a", task(30)), progressed("a")];
  expect(total(...working).tokens).toBe(130);
  expect(total(...working, answered("a", task(35))).tokens).toBe(135);
  expect(total(...working, answered("a")).tokens).toBe(130);
  expect(total(...working, answered("b", task(101)), answered("a")).tokens).toBe(131);
  // A final report counts even if it is smaller, and once.
  expect(total(...working, answered("b", task(1)), answered("a", task(2))).tokens).toBe(3);
});
