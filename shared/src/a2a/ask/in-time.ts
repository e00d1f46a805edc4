import { AppError } from "../../core/errors.ts";
import type { StepContext } from "../../core/run.ts";

/** How long a step may outlast its ask's deadline: enough to learn that the task ended just before. */
const graceMs = 2_000;

/** The step's signal, aborted with a TimeoutError soon after `endsAt` (on the clock of runs), so that no agent that hangs holds up its asker. */
export function inTime({ signal, now }: StepContext, endsAt: number | undefined): AbortSignal {
  if (endsAt === undefined) return signal;
  const leftMs = Math.max(0, endsAt - now()) + graceMs;
  return AbortSignal.any([signal, AbortSignal.timeout(Math.min(leftMs, 2 ** 31 - 1))]);
}

/** What an expected failure is: an AppError as it is, and the end of a signal's time as `timeout`; undefined for anything else. */
export function expectedFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  const isLate = error instanceof DOMException && error.name === "TimeoutError";
  return isLate ? new AppError("timeout", "The agent did not answer in time") : undefined;
}
