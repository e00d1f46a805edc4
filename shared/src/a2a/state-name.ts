import { TaskState } from "@a2a-js/sdk";

const names = {
  [TaskState.TASK_STATE_SUBMITTED]: "submitted",
  [TaskState.TASK_STATE_WORKING]: "working",
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "input-required",
  [TaskState.TASK_STATE_AUTH_REQUIRED]: "auth-required",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
} as const;

/** Where a task stands, in A2A's words. */
export type StateName = (typeof names)[keyof typeof names];

/** A state of A2A in words; one this side does not know is work that goes on. */
export function stateName(state: TaskState | undefined): StateName {
  const known: Readonly<Partial<Record<TaskState, StateName>>> = names;
  return (state === undefined ? undefined : known[state]) ?? "working";
}
