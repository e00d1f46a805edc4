import type { ReadEvent } from "./events.ts";
import type { Usage } from "./model.ts";

/**
 * What a task has used: input and output tokens together, and what they cost where the price is
 * known; `unpriced` tells that some calls had no known price. What the agents it asked told of
 * themselves is counted in.
 */
export type TaskUsage = {
  readonly tokens: number;
  /** Of the tokens, those that models wrote; left out by agents that do not tell them apart. */
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

/** A model call's part of it, with the answers that broke off before the one that counts. */
export function usageOfAnswers({ usage, discarded }: { readonly usage: Usage; readonly discarded?: Usage }): TaskUsage {
  return discarded === undefined ? usageOfCall(usage) : addUsage(usageOfCall(usage), usageOfCall(discarded));
}

/**
 * What the events of a run add up to; `open` is what agents that are still at work told of
 * themselves, by ask.
 */
export type UsageCount = {
  readonly settled: TaskUsage;
  readonly open: { readonly [askId: string]: TaskUsage };
};

/** The count of no events. */
export const noCount: UsageCount = { settled: noUsage, open: {} };

/** What any event of a journal may say of usage, whatever its type. */
type Telling = {
  readonly type: string;
  readonly usage?: Usage | TaskUsage;
  readonly discarded?: Usage;
  readonly usedSoFar?: TaskUsage;
  readonly askId?: string;
};

/**
 * The count with one more event: whatever has a `usage` counts, so that no kind of call can be left
 * out. What an agent had told so far makes way for what it tells at its end, and stands where it
 * tells nothing then.
 */
export function countEvent({ settled, open }: UsageCount, event: ReadEvent): UsageCount {
  const { type, usage, discarded, usedSoFar, askId = "" } = event as Telling;
  const { [askId]: soFar, ...others } = open;
  const told = [usage ?? (type === "agent-answered" ? soFar : undefined), discarded].filter(
    (each) => each !== undefined,
  );
  return {
    settled: told.reduce((sum: TaskUsage, each) => addUsage(sum, taskUsageOf(each)), settled),
    open: type === "agent-answered" ? others : usedSoFar === undefined ? open : { ...others, [askId]: usedSoFar },
  };
}

/** All of it, agents at work included. */
export function usageOf({ settled, open }: UsageCount): TaskUsage {
  return Object.values(open).reduce(addUsage, settled);
}

function taskUsageOf(usage: Usage | TaskUsage): TaskUsage {
  return "inputTokens" in usage ? usageOfCall(usage) : usage;
}
