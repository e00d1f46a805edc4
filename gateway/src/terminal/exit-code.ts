import type { ShownState } from "../tasks/task-item.ts";

/** Exit codes of the command line, by what they mean. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, rejected: 3, canceled: 130 } as const;

/**
 * The exit code for a task's state. A task that waits for an answer counts as rejected: nobody here
 * can give one.
 */
export function exitCodeOf(state: ShownState): number {
  if (state === "completed") return exitCodes.ok;
  if (state === "canceled") return exitCodes.canceled;
  return state === "failed" ? exitCodes.failed : exitCodes.rejected;
}
