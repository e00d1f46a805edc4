import type { Step } from "./loop.ts";
import type { PlannedCall } from "./plan-call.ts";
import type { TaskState } from "./task-state.ts";

/** Decides what to do next: the calls to make, or none. Sets the task's outcome when it has the answer. */
export type Think = (task: TaskState) => Promise<readonly PlannedCall[]>;

/** Does what a thought asked for and adds what came of it to the task. */
export type Act = (calls: readonly PlannedCall[], task: TaskState) => Promise<void>;

/** A step that thinks, then acts on what the thought asked for. */
export function react(think: Think, act: Act): Step {
  return async (task) => {
    const calls = await think(task);
    if (calls.length > 0) await act(calls, task);
    return task.outcome === undefined ? "continue" : "done";
  };
}
