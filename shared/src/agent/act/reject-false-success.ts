import type { Act } from "../task/loop.ts";

/**
 * Lets a turn end its task with success only if each of its calls succeeded, since the model has
 * not yet read a failure in the same turn.
 */
export function rejectFalseSuccess(act: Act): Act {
  return async (calls, task) => {
    const before = task.messages.length;
    await act(calls, task);
    const failed = task.messages
      .slice(before)
      .flatMap((each) => (each.role === "tool" && each.isError ? [each.name] : []));
    if (task.outcome?.status !== "success" || failed.length === 0) return;
    task.outcome = undefined;
    task.hints.push(
      `The task has not ended: in the same turn ${failed.join(", ")} failed. Read that result first, then decide.`,
    );
  };
}
