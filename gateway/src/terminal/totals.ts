import type { TaskUsage } from "@manyhands/shared/agent/task-usage";
import type { Usage } from "@manyhands/shared/llm/model";

/** What a task used so far. Cost counts only calls whose price is known; the others are counted beside it. */
export type Totals = {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly callsOfUnknownCost: number;
  /** Input and output of other agents that were asked; what they cost is in `costUsd` as far as it is known. */
  readonly tokensOfOthers: number;
  readonly othersUnpriced: boolean;
};

/** Nothing used. */
export const noTotals: Totals = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  callsOfUnknownCost: 0,
  tokensOfOthers: 0,
  othersUnpriced: false,
};

/** The totals after one more model call. */
export function addUsage(totals: Totals, usage: Usage): Totals {
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

/** The totals with what another agent used. */
export function addOthers(totals: Totals, { tokens, usd, unpriced }: TaskUsage): Totals {
  return {
    ...totals,
    costUsd: totals.costUsd + usd,
    tokensOfOthers: totals.tokensOfOthers + tokens,
    othersUnpriced: totals.othersUnpriced || unpriced,
  };
}

/** Tokens and cost in words. Unknown cost is said to be unknown, never shown as nothing. */
export function totalsText(totals: Totals): string {
  const cached = totals.cachedInputTokens === 0 ? "" : ` (${count(totals.cachedInputTokens)} cached)`;
  const calls = `${totals.calls} model ${totals.calls === 1 ? "call" : "calls"}`;
  const others = totals.tokensOfOthers === 0 ? "" : ` · ${count(totals.tokensOfOthers)} by other agents`;
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

function costText({ calls, costUsd, callsOfUnknownCost, tokensOfOthers, othersUnpriced }: Totals): string {
  if (calls === 0 && tokensOfOthers === 0) return "no cost";
  if (callsOfUnknownCost === calls && (tokensOfOthers === 0 || (othersUnpriced && costUsd === 0)))
    return "cost unknown";
  const known = `$${costUsd.toFixed(costUsd >= 1 || costUsd === 0 ? 2 : 4)}`;
  if (callsOfUnknownCost > 0) return `${known} and ${callsOfUnknownCost} calls of unknown cost`;
  return othersUnpriced ? `${known} and calls of other agents of unknown cost` : known;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
