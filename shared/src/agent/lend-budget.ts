import type { Loan } from "../core/tool.ts";
import type { TaskState } from "./task-state.ts";

/**
 * Lends a share of what the task has left. What several calls of a turn lend at the same time is never more than that together; time is not
 * divided, for they use it at the same time.
 */
export function lendBudget({ limits, spent, lent }: TaskState, share: number): Loan {
  const tokens = Math.max(1, Math.floor((limits.tokens - spent.tokens - lent.tokens) * share));
  const usd = Math.max(0, (limits.usd - spent.usd - lent.usd) * share);
  const wallMs = Math.max(1, Math.floor(limits.wallMs - spent.workMs));
  lent.tokens += tokens;
  lent.usd += usd;
  return {
    budget: { tokens, usd, wallMs },
    settle(used) {
      lent.tokens -= tokens;
      lent.usd -= usd;
      if (used === undefined) return;
      spent.tokens += used.tokens;
      spent.usd += used.usd;
      spent.unpriced ||= used.unpriced;
    },
  };
}
