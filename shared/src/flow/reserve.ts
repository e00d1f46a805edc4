import { AppError } from "../core/errors.ts";
import type { Run, StepContext } from "../core/runs/run.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { counted } from "../core/text/counted.ts";
import { type BudgetShare, type FlowState, workedMs } from "./flow-state.ts";

/** What one ask may use: its budget, and the deadline after which it is abandoned. */
export type Reservation = { readonly budget: NonNullable<AgentInput["budget"]>; readonly deadlineMs: number };

/**
 * Reserves, for one ask, its share of what remains of the flow's budget. Recorded, because the
 * remainder depends on which branch came first. Rejects with the error of a limit that is reached.
 * `release` returns the reservation.
 */
export async function reserve(run: Run, state: FlowState, deadlineMs: number | undefined): Promise<Reservation> {
  const parts = Math.max(1, state.expected, state.branches - state.underWay) + (state.ownCalls ? 1 : 0);
  state.expected = Math.max(0, state.expected - 1);
  state.asks++;
  const reservation = await run.step("allot", async (step) => shareOf(state, step, parts, deadlineMs), {
    effect: "pure",
  });
  const { tokens = 0, usd = 0 } = reservation.budget;
  state.reserved = { tokens: state.reserved.tokens + tokens, usd: state.reserved.usd + usd };
  state.underWay++;
  return reservation;
}

/** Returns a reservation. */
export function release(state: FlowState, { budget: { tokens = 0, usd = 0 } }: Reservation): void {
  state.reserved = { tokens: state.reserved.tokens - tokens, usd: state.reserved.usd - usd };
  state.underWay--;
}

/** What is neither spent nor reserved. Only for use inside a step. */
export function remaining({ begun: { limits }, spent, reserved }: FlowState): BudgetShare {
  return {
    tokens: Math.max(0, limits.tokens - spent.tokens - reserved.tokens),
    usd: Math.max(0, limits.usd - spent.usd - reserved.usd),
  };
}

function shareOf(
  state: FlowState,
  step: StepContext,
  parts: number,
  deadlineMs = Number.POSITIVE_INFINITY,
): Reservation {
  const { limits } = state.begun;
  const left = remaining(state);
  const leftMs = Math.ceil(limits.wallMs - workedMs(state, step));
  const tokens = Math.floor(left.tokens / parts);
  if (state.asks > limits.asks) throw over("step_limit", `${counted(limits.asks, "ask")} of agents`);
  if (tokens < 1) throw over("token_limit", `${limits.tokens} tokens`);
  if (left.usd === 0 && limits.usd > 0) throw over("cost_limit", `$${limits.usd}`);
  if (leftMs <= 0) throw over("time_limit", `${Math.round(limits.wallMs / 1000)} seconds`);
  const steps = state.stepsPerTask;
  return {
    budget: { ...(steps !== undefined && { steps }), tokens, usd: left.usd / parts, wallMs: leftMs },
    deadlineMs: Math.min(deadlineMs, leftMs),
  };
}

function over(code: "step_limit" | "token_limit" | "cost_limit" | "time_limit", bound: string): AppError {
  return new AppError(code, `This flow's bound of ${bound} is reached.`);
}
