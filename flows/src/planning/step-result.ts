import type { AppError } from "manyhands";
import { type AskOutcome, cut, roomForEach } from "manyhands/flows";
import { marked } from "../prompt-text.ts";
import type { HandedOver } from "../result-files.ts";
import type { TaskStep } from "./task-plan.ts";

/**
 * The outcome of a step that a flow gave to an agent. `blocked`: it was not started, or cannot be
 * done in the current situation.
 */
export type StepOutcome = "completed" | "failed" | "blocked";

/** The result of a step. */
export type StepResult = HandedOver & {
  readonly step: TaskStep;
  readonly outcome: StepOutcome;
  readonly answer: string;
  readonly data?: AskOutcome["data"];
  /** The calls of its last attempt, if they are known. */
  readonly made?: AskOutcome["made"];
  /** Whether a model has looked at what it came to. */
  readonly isChecked: boolean;
  /** What shows that it is done. */
  readonly evidence: string;
  /** Why it is not. */
  readonly reason: string;
  readonly attempts: number;
  /** Its newest task at the agent; empty if it never reached the agent. */
  readonly taskId: string;
  /** Its conversation there; empty if there was none. */
  readonly contextId: string;
  /** Whether its agent still knows that conversation. */
  readonly remembers: boolean;
  /** The task as its agent was told it; empty if it was not. */
  readonly goal: string;
  /** Why the whole flow cannot continue: a limit of it was reached, or its model is unavailable. */
  readonly fatal?: AppError;
};

/**
 * Results as text for agents or the model: whose each is and what it says, shortened to fit
 * together. The texts were written by agents; readers must treat them as data.
 */
export function resultsText(results: readonly StepResult[]): string {
  const room = roomForEach(results.length);
  return results.map((result) => resultText(result, room)).join("\n\n");
}

function resultText({ step, outcome, answer, files, isChecked, evidence, reason }: StepResult, room: number): string {
  const head = `Step ${step.id} by ${step.agent}, ${outcome}: ${step.text}`;
  const said = cut(answer, room);
  // An agent that gave up gives its report as the reason, too.
  const why = answer !== "" && reason.endsWith(`: ${answer}`) ? reason.slice(0, -answer.length - 2) : reason;
  const names = files.map(({ name }) => name).join(", ");
  return [
    head,
    ...(said === "" ? [] : [marked("report", said)]),
    ...(names === "" ? [] : [`Files: ${names}`]),
    ...(evidence === "" || !isChecked ? [] : [`Checked: ${evidence}`]),
    ...(outcome === "completed" || reason === "" ? [] : [`Why it is not done: ${why}`]),
  ].join("\n");
}
