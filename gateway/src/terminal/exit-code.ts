import type { ShownState } from "../tasks/task-item.ts";

/** Exit codes of the command line, by what they mean. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, rejected: 3, canceled: 130 } as const;

/**
 * The exit code for how a task was left. A task that waits for an answer no one here can give
 * counts as rejected.
 */
export function exitCodeOf(state: ShownState): number {
  if (state === "completed") return exitCodes.ok;
  if (state === "canceled") return exitCodes.canceled;
  return state === "failed" ? exitCodes.failed : exitCodes.rejected;
}
