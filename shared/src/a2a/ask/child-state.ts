import type { Task } from "@a2a-js/sdk";
import { messageText } from "../client/task-update.ts";
import { type StateName, stateName } from "../state-name.ts";

/** Where a task at another agent stands. One that was only submitted is work that goes on. */
export type ChildState = Exclude<StateName, "submitted">;

/** A question of the other agent; `id` tells it from its other ones. */
export type ChildQuestion = { readonly id: string; readonly text: string };

const longestQuestion = 8_000;

/** The state of a task; one this side does not know is work that goes on. */
export function childState(task: Task): ChildState {
  const name = stateName(task.status?.state);
  return name === "submitted" ? "working" : name;
}

/** Whether a task has ended. */
export function isOver(state: ChildState): boolean {
  return state !== "working" && !waitsForPerson(state);
}

/** Whether a task asks something, or to be authorized for something. */
export function waitsForPerson(state: ChildState): boolean {
  return state === "input-required" || state === "auth-required";
}

/** What a task asks, as its status tells. */
export function childQuestion({ status }: Task): ChildQuestion {
  const text = messageText(status?.message).slice(0, longestQuestion).toWellFormed();
  return { id: (status?.message?.messageId || `${status?.timestamp ?? ""} ${text}`).slice(0, 400), text };
}
