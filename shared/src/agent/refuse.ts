import type { ToolCall } from "../core/model.ts";
import type { TaskState } from "./task-state.ts";

/** Answers a call that is not made. */
export function refuse({ id: callId, name }: ToolCall, text: string, task: TaskState): void {
  task.run.emit({ type: "tool-ended", callId, name, text, isError: true, milliseconds: 0 });
  task.messages.push({ role: "tool", callId, name, text, isError: true });
}
