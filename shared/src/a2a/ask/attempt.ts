import type { Fault } from "../../core/ask-outcome.ts";
import { AppError, errorCodes } from "../../core/errors.ts";
import type { Run, StepContext } from "../../core/run.ts";
import type { Ask } from "./ask.ts";
import type { Peers } from "./peers.ts";

/**
 * What one short step came to, and when on the clock of runs: a failure is a value, so that the run
 * decides what follows. Milliseconds.
 */
export type Attempt<Value> = { readonly at: number } & ({ readonly value: Value } | { readonly fault: Fault });

/** Does the work; an expected failure becomes a value, anything else rejects. */
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

/** An error as a value. */
export function faultOf({ code, message }: AppError): Fault {
  return { code, message };
}

/** Which agent is tried again, and until when. Milliseconds; `endsAt` on the clock of runs. */
export type Patience = Pick<Ask, "agent" | "patienceMs" | "endsAt">;

const longestPauseMs = 15_000;

/**
 * Repeats a short step while it fails in a way that may pass, with durable pauses, as long as the
 * patience lasts; a pause ends at once when whatever watches over the agent finds it worth asking.
 * What came last is the answer.
 */
export async function retryDurably<Value>(
  run: Run,
  { agent, patienceMs, endsAt = Number.POSITIVE_INFINITY }: Patience,
  peers: Pick<Peers, "retrySignal">,
  attempt: () => Promise<Attempt<Value>>,
): Promise<Attempt<Value>> {
  let since: number | undefined;
  for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Taken before the attempt, so that no moment between it and the pause is missed.
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
 * How long a step may outlast its ask's deadline: enough to learn that the task ended just before.
 */
const graceMs = 2_000;

/**
 * The step's signal, aborted with a TimeoutError soon after `endsAt` (on the clock of runs), so
 * that no agent that hangs holds up its asker.
 */
export function inTime({ signal, now }: StepContext, endsAt: number | undefined): AbortSignal {
  if (endsAt === undefined) return signal;
  const leftMs = Math.max(0, endsAt - now()) + graceMs;
  return AbortSignal.any([signal, AbortSignal.timeout(Math.min(leftMs, 2 ** 31 - 1))]);
}

/**
 * What an expected failure is: an AppError as it is, and the end of a signal's time as `timeout`;
 * undefined for anything else.
 */
export function expectedFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  return isLate ? new AppError("timeout", "The agent did not answer in time") : undefined;
}
