import { TaskNotCancelableError } from "@a2a-js/sdk/errors";
import type { RunRecord } from "../durable/engine.ts";
import { AppError } from "../errors.ts";
import type { TaskDeps } from "./task-access.ts";

/** How long a cancelled task may take to stop what it is doing before the caller is told that it is still stopping. */
const stopMs = 10_000;

/**
 * Cancels a run and waits, at most ten seconds, until it has ended; harmless when it was canceled before. Throws
 * TaskNotCancelableError when it ended otherwise.
 */
export async function cancelRun(deps: TaskDeps, run: RunRecord, signal: AbortSignal): Promise<void> {
  try {
    await deps.engine.cancel(run.id);
  } catch (error) {
    if (error instanceof AppError && error.code === "run_ended") {
      throw new TaskNotCancelableError(`Task ${run.id} has ended`);
    }
    throw error;
  }
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(stopMs)]);
  for await (const item of deps.engine.follow(run.id, { after: run.lastEvent, signal: bounded })) {
    if (item.kind === "event" && item.event.type === "run-ended") return;
  }
}
