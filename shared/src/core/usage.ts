import type { Usage } from "./model.ts";

/**
 * What a task has used: input and output tokens together, and their cost where the price is known;
 * `unpriced` means that some calls had no known price. Includes what the agents it asked report.
 */
export type TaskUsage = {
  readonly tokens: number;
  /** How many of the tokens are output; left out by agents that do not separate them. */
  readonly outputTokens?: number;
  readonly usd: number;
  readonly unpriced: boolean;
};

/** Nothing used. */
export const noUsage: TaskUsage = { tokens: 0, outputTokens: 0, usd: 0, unpriced: false };

/** Both together. */
export function addUsage(one: TaskUsage, other: TaskUsage): TaskUsage {
  return {
    tokens: one.tokens + other.tokens,
    outputTokens: (one.outputTokens ?? 0) + (other.outputTokens ?? 0),
    usd: one.usd + other.usd,
    unpriced: one.unpriced || other.unpriced,
  };
}

function usageOfCall({ inputTokens, outputTokens, costUsd }: Usage): TaskUsage {
  return { tokens: inputTokens + outputTokens, outputTokens, usd: costUsd ?? 0, unpriced: costUsd === null };
}

/** The usage of one model call, including answers that broke off before the one that counts. */
export function usageOfAnswers({ usage, discarded }: { readonly usage: Usage; readonly discarded?: Usage }): TaskUsage {
  return discarded === undefined ? usageOfCall(usage) : addUsage(usageOfCall(usage), usageOfCall(discarded));
}

/**
 * The usage that a run's events add up to; `open` is what agents still at work have reported, by
 * ask.
 */
export type UsageCount = {
  readonly settled: TaskUsage;
  readonly open: { readonly [askId: string]: TaskUsage };
};

/** The count of no events. */
export const noCount: UsageCount = { settled: noUsage, open: {} };

/** The fields by which any event may report usage, whatever its type. */
type UsageReport = {
  readonly type: string;
  readonly usage?: Usage | TaskUsage;
  readonly discarded?: Usage;
  readonly usedSoFar?: TaskUsage;
  readonly askId?: string;
};

/**
 * The count with one more event. Any event with a `usage` counts, so no kind of call is missed. An
 * agent's final report replaces its reports so far; without a final report, the latest one counts.
 */
export function countEvent(
  count: UsageCount,
  { type, usage, discarded, usedSoFar, askId = "" }: UsageReport,
): UsageCount {
  const { settled, open } = count;
  if ((usage ?? discarded ?? usedSoFar) === undefined && type !== "agent-answered") return count;
  const { [askId]: soFar, ...others } = open;
  const reported = [usage ?? (type === "agent-answered" ? soFar : undefined), discarded].filter(
    (each) => each !== undefined,
  );
  return {
    settled: reported.reduce((sum: TaskUsage, each) => addUsage(sum, taskUsageOf(each)), settled),
    open: type === "agent-answered" ? others : usedSoFar === undefined ? open : { ...others, [askId]: usedSoFar },
  };
}

/** The total, including agents still at work. */
export function usageOf({ settled, open }: UsageCount): TaskUsage {
  return Object.values(open).reduce(addUsage, settled);
}

function taskUsageOf(usage: Usage | TaskUsage): TaskUsage {
  return "inputTokens" in usage ? usageOfCall(usage) : usage;
}
