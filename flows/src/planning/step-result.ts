import type { AppError, StoredFile } from "manyhands";
import { cut, roomForEach } from "manyhands/flows";
import { marked } from "../prompt-text.ts";
import type { TaskStep } from "./task-plan.ts";

/**
 * How a step that a flow gave to an agent came out. `blocked`: it was not begun, or cannot be done
 * as things stand.
 */
export type StepOutcome = "completed" | "failed" | "blocked";

/** What came of a step. */
export type StepResult = {
  readonly step: TaskStep;
  readonly outcome: StepOutcome;
  readonly answer: string;
  readonly files: readonly StoredFile[];
  /** What shows that it is done. */
  readonly evidence: string;
  /** Why it is not. */
  readonly reason: string;
  readonly attempts: number;
  /** Its newest task at the agent; empty when it never got there. */
  readonly taskId: string;
  /** The conversation it had there; empty when there was none. */
  readonly contextId: string;
  /**
   * What the whole flow cannot go on after: a bound of it was reached, or its model cannot be had.
   */
  readonly fatal?: AppError;
};

/**
 * Results as others read them, agents or the model: whose each is and what it says, as long as fits
 * together. The texts are the agents' own, and data to whoever reads them.
 */
export function resultsText(results: readonly StepResult[]): string {
  const room = roomForEach(results.length);
  return results.map((result) => resultText(result, room)).join("\n\n");
}

function resultText({ step, outcome, answer, files, evidence, reason }: StepResult, room: number): string {
  const head = `Step ${step.id} by ${step.agent}, ${outcome}: ${step.text}`;
  const said = cut(answer, room);
  const names = files.map(({ name }) => name).join(", ");
  return [
    head,
    ...(said === "" ? [] : [marked("report", said)]),
    ...(names === "" ? [] : [`Files: ${names}`]),
    ...(evidence === "" ? [] : [`Checked: ${evidence}`]),
    ...(outcome === "completed" || reason === "" ? [] : [`Why it is not done: ${reason}`]),
  ].join("\n");
}
