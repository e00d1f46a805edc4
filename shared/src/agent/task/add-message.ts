import type { AgentState, TaskMessage, View } from "./agent-state.ts";

/** Adds a message to the conversation; what it shows may be folded later. */
export function addMessage(task: Pick<AgentState, "messages" | "views" | "step">, message: TaskMessage): void {
  task.messages.push(message);
  if (isView(message)) task.views.open.push({ message, step: task.step });
}

/** Whether a message shows something as it was at one time: an observation, or images. */
export function isView(message: TaskMessage): message is View["message"] {
  return message.role === "observation" || (message.role === "tool" && message.images !== undefined);
}
