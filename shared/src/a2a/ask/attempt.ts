import { AppError, errorCodes } from "../../core/errors.ts";
import type { Fault } from "../../core/events/ask-outcome.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import type { Ask } from "./ask.ts";
import type { Peers } from "./peers.ts";

/**
 * The result of one short step and its time on the runs' clock, in milliseconds. A failure is a
 * value, so that the run decides what follows.
 */
export type Attempt<Value> = { readonly at: number } & ({ readonly value: Value } | { readonly fault: Fault });

/** Runs `work`. An expected failure becomes a value; anything else rejects. */
export async function attempted<Value>(
  { now }: Pick<StepContext, "now">,
  work: () => Promise<Value>,
): Promise<Attempt<Value>> {
  try {
    return { value: await work(), at: now() };
  } catch (error) {
    const failure = expectedFailure(error);
    if (failure === undefined) throw error;
    return { fault: faultOf(failure), at: now() };
  }
}

/** The part of an error that a step can record. */
export function faultOf({ code, message }: AppError): Fault {
  return { code, message };
}

/** The agent to retry, and for how long. Milliseconds; `endsAt` on the runs' clock. */
export type Patience = Pick<Ask, "agent" | "patienceMs" | "endsAt">;

const longestPauseMs = 15_000;

/**
 * Repeats a short step while it fails with a retryable error, with durable pauses, until the
 * patience runs out. A pause ends at once when the agent's monitor finds it worth retrying. Returns
 * the last attempt.
 */
export async function retryDurably<Value>(
  run: Run,
  { agent, patienceMs, endsAt = Number.POSITIVE_INFINITY }: Patience,
  peers: Pick<Peers, "retrySignal">,
  attempt: () => Promise<Attempt<Value>>,
): Promise<Attempt<Value>> {
  let since: number | undefined;
  for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Taken before the attempt, so that no signal between the attempt and the pause is missed.
    const until = peers.retrySignal(agent);
    const last = await attempt();
    if (!("fault" in last) || !errorCodes[last.fault.code].retryable) return last;
    since ??= last.at;
    const left = Math.min(since + patienceMs, endsAt) - last.at;
    if (left <= 0) return last;
    await run.sleep(Math.min(pauseMs, left), { until });
  }
}

/**
 * How long a step may outlast its ask's deadline: long enough to notice a task that ended just
 * before it.
 */
const graceMs = 2_000;

/**
 * The step's signal, aborted with a TimeoutError soon after `endsAt` (on the runs' clock), so that
 * a hanging agent does not hold up its asker.
 */
export function inTime({ signal, now }: StepContext, endsAt: number | undefined): AbortSignal {
  if (endsAt === undefined) return signal;
  const leftMs = Math.max(0, endsAt - now()) + graceMs;
  return AbortSignal.any([signal, AbortSignal.timeout(Math.min(leftMs, 2 ** 31 - 1))]);
}

/**
 * The expected failure in an error: an AppError unchanged, an expired timeout signal as `timeout`,
 * undefined for anything else.
 */
export function expectedFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  return isLate ? new AppError("timeout", "The agent did not answer in time") : undefined;
}
