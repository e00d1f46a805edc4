import { AppError } from "../core/errors.ts";
import type { TaskState } from "./task-state.ts";

/** One turn of an agent. Says whether the task is over. */
export type Step = (task: TaskState) => Promise<"continue" | "done">;

/** Repeats a step until it is done; rejects with `step_limit` when the task's bound is reached first. */
export async function loop(step: Step, task: TaskState): Promise<void> {
  const { steps } = task.limits;
  for (task.step = 1; task.step <= steps; task.step++) {
    task.run.abortSignal.throwIfAborted();
    task.run.emit({ type: "step-started", step: task.step, maxSteps: steps });
    if ((await step(task)) === "done") return;
  }
  throw new AppError("step_limit", `No answer after ${steps} steps, the bound of this task.`);
}
