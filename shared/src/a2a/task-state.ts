import { TaskState } from "@a2a-js/sdk";
import type { RunRecord } from "../core/engine.ts";
import type { TaskProjection } from "../runs/projection.ts";

/**
 * The A2A state of a run from its events, and from its record where that is at hand and knows more:
 * that a worker has taken it, or that it waits for something no event told of.
 */
export function taskState(projection: TaskProjection, run?: RunRecord): TaskState {
  if (projection.end !== undefined) return endState(projection.end);
  if (projection.question !== undefined) {
    return waitingState(projection.question === "authorization" ? "auth-required" : "input-required");
  }
  if (run?.status === "waiting") return waitingState(run.waiting?.reason);
  const started = projection.started || (run !== undefined && run.status !== "queued");
  return started ? TaskState.TASK_STATE_WORKING : TaskState.TASK_STATE_SUBMITTED;
}

/** Completed, failed, canceled, rejected: nothing changes any more. */
export function isTerminal(state: TaskState): boolean {
  return (
    state === TaskState.TASK_STATE_COMPLETED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_CANCELED ||
    state === TaskState.TASK_STATE_REJECTED
  );
}

/** Terminal, or waiting for the caller: what ends a blocking call. */
export function isSettled(state: TaskState): boolean {
  return (
    isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED
  );
}

function endState({ status, error }: NonNullable<TaskProjection["end"]>): TaskState {
  if (status === "completed") return TaskState.TASK_STATE_COMPLETED;
  if (status === "canceled") return TaskState.TASK_STATE_CANCELED;
  return error?.code === "rejected" ? TaskState.TASK_STATE_REJECTED : TaskState.TASK_STATE_FAILED;
}

function waitingState(reason: string | undefined): TaskState {
  if (reason === "input-required") return TaskState.TASK_STATE_INPUT_REQUIRED;
  if (reason === "auth-required") return TaskState.TASK_STATE_AUTH_REQUIRED;
  return TaskState.TASK_STATE_WORKING;
}

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
