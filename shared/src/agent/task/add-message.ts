import type { Shown } from "../../core/tools/tool.ts";
import type { AgentState, OpenView, TaskMessage, Views } from "./agent-state.ts";
import { wholeIn } from "./bound-text.ts";

/**
 * Adds a message to the conversation. A result that shows what the conversation has already says
 * only that; what a message shows may be folded later.
 */
export function addMessage(task: Pick<AgentState, "messages" | "views" | "turn">, message: TaskMessage): void {
  const again = message.role === "tool" ? repeatOf(task.views, message.shows) : undefined;
  if (message.role !== "tool" || again === undefined) {
    task.messages.push(message);
    if (isView(message)) task.views.open.push({ message, turn: task.turn });
    return;
  }
  const { shows: _, ...rest } = message;
  task.messages.push({ ...rest, text: again });
}

/** What stands in for a result that shows nothing new; undefined if it shows something. */
function repeatOf({ open }: Views, shows: Shown | undefined): string | undefined {
  if (shows?.whole === undefined || shows.again === undefined) return undefined;
  const last = open.findLast(
    ({ message }) => message.role === "tool" && message.shows?.of === shows.of && message.shows.whole !== undefined,
  );
  return last?.message.role === "tool" && last.message.shows?.whole === shows.whole ? shows.again : undefined;
}

/**
 * Whether a message shows something as it was at one time: an observation, images, a file, or a
 * long output that a file holds whole.
 */
export function isView(message: TaskMessage): message is OpenView["message"] {
  if (message.role === "observation") return true;
  if (message.role !== "tool") return false;
  return message.images !== undefined || message.shows !== undefined || wholeIn(message.text) !== undefined;
}
