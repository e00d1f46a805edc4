import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { Usage } from "manyhands/internal/core/model";
import { countEvent, noCount, type TaskUsage, type UsageCount, usageOf } from "manyhands/internal/core/usage";

/**
 * What a task has used so far. Cost covers only calls whose price is known; the others are counted
 * separately.
 */
export type Totals = {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Of the input tokens, those written to a provider's cache; left out if none were. */
  readonly cacheWriteTokens?: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly callsOfUnknownCost: number;
  /** What other agents used for this task, including those still working. */
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

/** The totals after one more model call, including discarded attempts at its answer. */
export function addCall(totals: Totals, { usage, discarded }: { usage?: Usage; discarded?: Usage }): Totals {
  return [usage, discarded].filter((each) => each !== undefined).reduce(addUsage, totals);
}

function addUsage(totals: Totals, usage: Usage): Totals {
  const cacheWriteTokens = (totals.cacheWriteTokens ?? 0) + (usage.cacheWriteTokens ?? 0);
  return {
    ...totals,
    calls: totals.calls + 1,
    inputTokens: totals.inputTokens + usage.inputTokens,
    cachedInputTokens: totals.cachedInputTokens + usage.cachedInputTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    outputTokens: totals.outputTokens + usage.outputTokens,
    costUsd: totals.costUsd + (usage.costUsd ?? 0),
    callsOfUnknownCost: totals.callsOfUnknownCost + (usage.costUsd === null ? 1 : 0),
  };
}

/** The totals with another agent's reported usage added. */
export function addOthers(totals: Totals, event: ReadEvent): Totals {
  return { ...totals, others: countEvent(totals.others, event) };
}

/** The totals as programs read them: `costUsd` covers everything whose price is known. */
export function plainTotals({ others, ...own }: Totals) {
  const { tokens, usd, unpriced } = usageOf(others);
  return { ...own, costUsd: own.costUsd + usd, tokensOfOthers: tokens, othersUnpriced: unpriced };
}

/** The totals in a few words while the task works; empty until something is used. */
export function soFarText(totals: Totals): string {
  const tokens = totals.inputTokens + totals.outputTokens + usageOf(totals.others).tokens;
  return tokens === 0 ? "" : `${count(tokens)} tokens · ${costText(totals)}`;
}

/** What one agent used, in a few words. */
export function usageText({ tokens, usd, unpriced }: TaskUsage): string {
  const cost = unpriced ? (usd === 0 ? "cost unknown" : `${dollars(usd)} plus unknown cost`) : dollars(usd);
  return `${count(tokens)} tokens · ${cost}`;
}

/** Tokens and cost in words. Unknown cost is shown as unknown, never as zero. */
export function totalsText(totals: Totals): string {
  const { cachedInputTokens, cacheWriteTokens = 0 } = totals;
  const cache = [
    ...(cachedInputTokens === 0 ? [] : [`${count(cachedInputTokens)} cached`]),
    ...(cacheWriteTokens === 0 ? [] : [`${count(cacheWriteTokens)} written to the cache`]),
  ];
  const cached = cache.length === 0 ? "" : ` (${cache.join(", ")})`;
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
  if (callsOfUnknownCost > 0) {
    const unknown = `${callsOfUnknownCost} ${callsOfUnknownCost === 1 ? "call" : "calls"} of unknown cost`;
    return `${known} plus ${unknown}`;
  }
  return unpriced ? `${known} plus calls by other agents of unknown cost` : known;
}

function dollars(usd: number): string {
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
