import type { Flow } from "manyhands/flows";

/** The task, after what was said before it in the conversation. */
export function wholeGoal({ goal, earlier }: Pick<Flow, "goal" | "earlier">): string {
  return earlier === "" ? goal : `Earlier in this conversation:\n${earlier}\n\nNow:\n${goal}`;
}
