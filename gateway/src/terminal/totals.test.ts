import { expect, test } from "bun:test";
import { readEvent } from "manyhands/internal/core/events/read-event";
import {
  addCall,
  addOthers,
  durationText,
  noTotals,
  plainTotals,
  sizeText,
  soFarText,
  totalsText,
  usageText,
} from "./totals.ts";

test.each([
  [0, "0.0 s"],
  [1_250, "1.3 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min 0 s"],
  [89_400, "1 min 29 s"],
  [7_325_000, "122 min 5 s"],
])("%p ms are %s", (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [999_949, "999.9 kB"],
  [1_000_000, "1.0 MB"],
  [12_340_000, "12.3 MB"],
])("%p bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

const call = (costUsd: number | null) => ({
  usage: { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 1, costUsd, source: "provider" as const },
});
const of = (...costs: readonly (number | null)[]) => costs.map(call).reduce(addCall, noTotals);

test("an unknown cost is said to be unknown, never nothing", () => {
  const costs = [of(), of(0), of(null), of(0.5, null), of(0.5, null, null), of(1.5), of(0.00012)];
  expect(costs.map((totals) => totalsText(totals).split(" · ").at(-1))).toEqual([
    "no cost",
    "$0.00",
    "cost unknown",
    "$0.5000 plus 1 call of unknown cost",
    "$0.5000 plus 2 calls of unknown cost",
    "$1.50",
    "$0.0001",
  ]);
  expect(totalsText(of(0))).toBe("1 model call · 1,000 tokens in · 1 out · $0.00");
  const cached = { usage: { ...call(1).usage, cachedInputTokens: 900, cacheWriteTokens: 90 } };
  expect(totalsText(addCall(noTotals, cached))).toContain("1,000 tokens in (900 cached, 90 written to the cache) ·");
  expect([soFarText(of()), soFarText(of(0, 0))]).toEqual(["", "2,002 tokens · $0.00"]);
  const used = { tokens: 1_200, unpriced: false, usd: 0 };
  expect([used, { ...used, unpriced: true }, { ...used, unpriced: true, usd: 2 }].map(usageText)).toEqual([
    "1,200 tokens · $0.00",
    "1,200 tokens · cost unknown",
    "1,200 tokens · $2.00 plus unknown cost",
  ]);
  expect(plainTotals(of(0.5))).toEqual({
    ...{ calls: 1, inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 1, callsOfUnknownCost: 0 },
    ...{ costUsd: 0.5, tokensOfOthers: 0, othersUnpriced: false },
  });
});

test("attempts that were discarded count, and for programs the cost of others too", () => {
  const { usage } = call(0.5);
  const own = addCall(noTotals, { usage, discarded: usage });
  expect(own).toMatchObject({ calls: 2, costUsd: 1, inputTokens: 2_000 });
  const about = { type: "agent-answered", askId: "a", agent: "swe", state: "completed", files: [] };
  const answered = readEvent({ ...about, usage: { tokens: 5, usd: 2, unpriced: false } } as never);
  expect(plainTotals(addOthers(own, answered))).toMatchObject({ costUsd: 3, tokensOfOthers: 5 });
});
