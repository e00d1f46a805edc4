import type { Limits } from "../../core/agent.ts";
import { AppError } from "../../core/errors.ts";
import type { Model, Usage } from "../../core/model.ts";
import type { SubBudget } from "../../core/tools/durable-context.ts";
import { usageOfAnswers } from "../../core/usage.ts";
import type { AgentState, Spending } from "../task/agent-state.ts";
import type { Think } from "../task/loop.ts";

/**
 * What limits a model call: the task's limits, what is spent of them, and the model's context
 * window.
 */
export type Account = {
  readonly limits: Pick<Limits, "tokens" | "usd" | "wallMs">;
  readonly spent: Readonly<Spending>;
  readonly contextWindow: number;
};

/** An answer shorter than this is not worth asking for. */
const smallestAnswer = 256;

/**
 * From this share of a limit on, each turn reminds the model to finish; `last-turn.ts` does so for
 * the limit on turns.
 */
const nearlySpent = 0.8;

/** A model call as a step recorded it. */
export type SpentCall = { readonly usage: Usage; readonly discarded?: Usage; readonly milliseconds: number };

/** Adds one model call to what the task has used. */
export function spend(task: AgentState, { usage, discarded, milliseconds }: SpentCall): void {
  const { tokens, usd, unpriced } = usageOfAnswers({ usage, ...(discarded && { discarded }) });
  task.spent.tokens += tokens;
  task.spent.usd += usd;
  task.spent.unpriced ||= unpriced;
  task.spent.workMs += milliseconds;
}

/**
 * The most tokens an answer to a prompt of this size may have without exceeding the task's token
 * limit, its cost limit or the model's window. Throws `token_limit` or `cost_limit` if not even a
 * short answer fits. The cost limit cannot be enforced for a model without a known price.
 */
export function roomForAnswer(task: Account, inputTokens: number, model: Model): number {
  const { limits, spent } = task;
  const byTokens = limits.tokens - spent.tokens - inputTokens;
  if (byTokens < smallestAnswer) {
    throw new AppError("token_limit", `The next model call would exceed this task's limit of ${limits.tokens} tokens.`);
  }
  const byCost = tokensFor(limits.usd - spent.usd, inputTokens, model);
  if (byCost < smallestAnswer) {
    throw new AppError("cost_limit", `The next model call would exceed this task's limit of $${limits.usd}.`);
  }
  // The prompt's size is an estimate: only the provider can say that it leaves no room at all.
  const inWindow = Math.max(smallestAnswer, task.contextWindow - inputTokens);
  return Math.min(byTokens, byCost, inWindow, model.capabilities.maxOutputTokens);
}

/** Whether a cost limit can be enforced. */
export function hasPrice(model: Model): boolean {
  return model.cost({ inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 }) !== null;
}

function tokensFor(usd: number, inputTokens: number, model: Model): number {
  const million = 1_000_000;
  const input = model.cost({ inputTokens, cachedInputTokens: 0, outputTokens: 0 });
  const outputMillion = model.cost({ inputTokens: 0, cachedInputTokens: 0, outputTokens: million });
  if (input === null || outputMillion === null || outputMillion === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(((usd - input) / outputMillion) * million);
}

/** A signal that fires when the task's remaining time for work is over. */
export function workDeadline(task: Account, signal: AbortSignal): { signal: AbortSignal; passed(): boolean } {
  const timer = AbortSignal.timeout(Math.max(0, task.limits.wallMs - task.spent.workMs));
  return { signal: AbortSignal.any([signal, timer]), passed: () => timer.aborted && !signal.aborted };
}

/** The error for a passed deadline. */
export function timeLimit(task: Account): AppError {
  return new AppError("time_limit", `This task's limit of ${task.limits.wallMs / 1000} s of work is reached.`);
}

/**
 * Stops a task whose time is over before it thinks again, and warns the model when a limit comes
 * near.
 */
export function withinBudget(think: Think): Think {
  return async (task) => {
    const { limits, spent } = task;
    if (spent.workMs >= limits.wallMs) throw timeLimit(task);
    const shares = {
      tokens: spent.tokens / limits.tokens,
      money: spent.usd / limits.usd,
      time: spent.workMs / limits.wallMs,
    };
    const near = Object.entries(shares)
      .filter(([, share]) => share >= nearlySpent)
      .map(([name]) => name);
    if (near.length > 0)
      task.hints.push(`Little is left of this task's ${near.join(" and ")}. Finish with what you have.`);
    return think(task);
  };
}

/**
 * Reserves a share of what remains of the task's budget. Reservations that several calls of a turn
 * hold at once never exceed the remainder together. Time is not divided, since the calls use it at
 * the same time.
 */
export function openSubBudget({ limits, spent, reserved }: AgentState, share: number): SubBudget {
  const tokens = Math.max(1, Math.floor((limits.tokens - spent.tokens - reserved.tokens) * share));
  const usd = Math.max(0, (limits.usd - spent.usd - reserved.usd) * share);
  const wallMs = Math.max(1, Math.floor(limits.wallMs - spent.workMs));
  reserved.tokens += tokens;
  reserved.usd += usd;
  return {
    budget: { tokens, usd, wallMs },
    release(used) {
      reserved.tokens -= tokens;
      reserved.usd -= usd;
      if (used === undefined) return;
      spent.tokens += used.tokens;
      spent.usd += used.usd;
      spent.unpriced ||= used.unpriced;
    },
  };
}
