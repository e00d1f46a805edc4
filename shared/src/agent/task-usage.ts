import type { Usage } from "../llm/model.ts";

/**
 * What a task has used: input and output tokens together, and what they cost where the price is known; `unpriced` tells that some
 * calls had no known price. What the agents it asked told of themselves is counted in.
 */
export type TaskUsage = { readonly tokens: number; readonly usd: number; readonly unpriced: boolean };

/** Nothing used. */
export const noUsage: TaskUsage = { tokens: 0, usd: 0, unpriced: false };

/** Both together. */
export function addUsage(one: TaskUsage, other: TaskUsage): TaskUsage {
  return {
    tokens: one.tokens + other.tokens,
    usd: one.usd + other.usd,
    unpriced: one.unpriced || other.unpriced,
  };
}

/** One model call's part of it. */
export function usageOfCall({ inputTokens, outputTokens, costUsd }: Usage): TaskUsage {
  return { tokens: inputTokens + outputTokens, usd: costUsd ?? 0, unpriced: costUsd === null };
}
