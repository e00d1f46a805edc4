import { TaskState } from "@a2a-js/sdk";
import type { RunRecord } from "../core/runs/engine.ts";
import type { TaskProjection } from "../runs/projection.ts";

/**
 * The A2A state of a run, derived from its events and, if given, its record. The record may know
 * more: that a worker has claimed the run, or that the run waits for something no event reported.
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

/** Whether the state is final: completed, failed, canceled or rejected. */
export function isTerminal(state: TaskState): boolean {
  return (
    state === TaskState.TASK_STATE_COMPLETED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_CANCELED ||
    state === TaskState.TASK_STATE_REJECTED
  );
}

/** Whether the state ends a blocking call: terminal, or waiting for the caller. */
export function isSettled(state: TaskState): boolean {
  return (
    isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED
  );
}

/**
 * Whether the agent has said what there is to say for now: a task that waits for authorization
 * goes on by itself (A2A 1.0 section 7.6.1).
 */
export function endsTurn(state: TaskState): boolean {
  return isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED;
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

/** The name of a task state, in A2A's words. */
export type StateName = (typeof names)[keyof typeof names];

/** The name of an A2A state; unknown states count as working. */
export function stateName(state: TaskState | undefined): StateName {
  const known: Readonly<Partial<Record<TaskState, StateName>>> = names;
  return (state === undefined ? undefined : known[state]) ?? "working";
}
