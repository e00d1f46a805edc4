import type { ReadEvent } from "manyhands/internal/core/events";
import type { Usage } from "manyhands/internal/core/model";
import { countEvent, noCount, type TaskUsage, type UsageCount, usageOf } from "manyhands/internal/core/usage";

/**
 * What a task used so far. Cost counts only calls whose price is known; the others are counted
 * beside it.
 */
export type Totals = {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly callsOfUnknownCost: number;
  /** What other agents used that were asked, those at work among them. */
  readonly others: UsageCount;
};

/** Nothing used. */
export const noTotals: Totals = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  callsOfUnknownCost: 0,
  others: noCount,
};

/** The totals after one more model call, with what was discarded on the way to its answer. */
export function addCall(totals: Totals, { usage, discarded }: { usage?: Usage; discarded?: Usage }): Totals {
  return [usage, discarded].filter((each) => each !== undefined).reduce(addUsage, totals);
}

function addUsage(totals: Totals, usage: Usage): Totals {
  return {
    ...totals,
    calls: totals.calls + 1,
    inputTokens: totals.inputTokens + usage.inputTokens,
    cachedInputTokens: totals.cachedInputTokens + usage.cachedInputTokens,
    outputTokens: totals.outputTokens + usage.outputTokens,
    costUsd: totals.costUsd + (usage.costUsd ?? 0),
    callsOfUnknownCost: totals.callsOfUnknownCost + (usage.costUsd === null ? 1 : 0),
  };
}

/** The totals with what another agent told of what it used. */
export function addOthers(totals: Totals, event: ReadEvent): Totals {
  return { ...totals, others: countEvent(totals.others, event) };
}

/** The totals as programs read them: `costUsd` is of everything whose price is known. */
export function plainTotals({ others, ...own }: Totals) {
  const { tokens, usd, unpriced } = usageOf(others);
  return { ...own, costUsd: own.costUsd + usd, tokensOfOthers: tokens, othersUnpriced: unpriced };
}

/** All of it in a few words, for while the task is at work; empty where nothing is used yet. */
export function soFarText(totals: Totals): string {
  const tokens = totals.inputTokens + totals.outputTokens + usageOf(totals.others).tokens;
  return tokens === 0 ? "" : `${count(tokens)} tokens · ${costText(totals)}`;
}

/** What one agent used, in a few words. */
export function usageText({ tokens, usd, unpriced }: TaskUsage): string {
  const cost = unpriced ? (usd === 0 ? "cost unknown" : `${dollars(usd)} and some unknown`) : dollars(usd);
  return `${count(tokens)} tokens · ${cost}`;
}

/** Tokens and cost in words. Unknown cost is said to be unknown, never shown as nothing. */
export function totalsText(totals: Totals): string {
  const cached = totals.cachedInputTokens === 0 ? "" : ` (${count(totals.cachedInputTokens)} cached)`;
  const calls = `${totals.calls} model ${totals.calls === 1 ? "call" : "calls"}`;
  const { tokens } = usageOf(totals.others);
  const others = tokens === 0 ? "" : ` · ${count(tokens)} by other agents`;
  return `${calls} · ${count(totals.inputTokens)} tokens in${cached} · ${count(totals.outputTokens)} out${others} · ${costText(totals)}`;
}

/** A duration for people. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A size for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function costText({ calls, costUsd: own, callsOfUnknownCost, others }: Totals): string {
  const { tokens, usd, unpriced } = usageOf(others);
  const costUsd = own + usd;
  if (calls === 0 && tokens === 0) return "no cost";
  if (callsOfUnknownCost === calls && (tokens === 0 || (unpriced && costUsd === 0))) return "cost unknown";
  const known = dollars(costUsd);
  if (callsOfUnknownCost > 0) return `${known} and ${callsOfUnknownCost} calls of unknown cost`;
  return unpriced ? `${known} and calls of other agents of unknown cost` : known;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
