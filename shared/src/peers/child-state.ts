import { type Task, TaskState } from "@a2a-js/sdk";
import { messageText } from "../a2a/task-update.ts";

/** Where a task at another agent stands. */
export type ChildState =
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

const states: Readonly<Partial<Record<TaskState, ChildState>>> = {
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "input-required",
  [TaskState.TASK_STATE_AUTH_REQUIRED]: "auth-required",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
};

/** A question of the other agent; `id` tells it from its other ones. */
export type ChildQuestion = { readonly id: string; readonly text: string };

const longestQuestion = 8_000;

/** The state of a task; one this side does not know is work that goes on. */
export function childState(task: Task): ChildState {
  return states[task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? "working";
}

/** Whether a task has ended. */
export function isOver(state: ChildState): boolean {
  return state !== "working" && state !== "input-required" && state !== "auth-required";
}

/** What a task asks, as its status tells. */
export function childQuestion({ status }: Task): ChildQuestion {
  const text = messageText(status?.message).slice(0, longestQuestion).toWellFormed();
  return { id: (status?.message?.messageId || `${status?.timestamp ?? ""} ${text}`).slice(0, 400), text };
}
