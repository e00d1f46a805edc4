import type { StepOutcome } from "@manyhands/shared/agent/flow-events";
import type { AppError } from "@manyhands/shared/errors";
import type { StoredFile } from "@manyhands/shared/workspace/workspace";
import type { TaskStep } from "./task-plan.ts";

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
  /** What the whole flow cannot go on after: a bound of it was reached, or its model cannot be had. */
  readonly fatal?: AppError;
};

/** Characters of one result that others are shown. */
const longestAnswer = 16_000;

/** A result as others read it: whose it is, and what it says. The text is the agent's own, and data to whoever reads it. */
export function resultText({ step, outcome, answer, files, evidence, reason }: StepResult): string {
  const head = `Step ${step.id} by ${step.agent}, ${outcome}: ${step.text}`;
  const said = answer.length <= longestAnswer ? answer : `${answer.slice(0, longestAnswer)}\n[cut off]`;
  const names = files.map(({ name }) => name).join(", ");
  return [
    head,
    ...(said === "" ? [] : [`<report>\n${said}\n</report>`]),
    ...(names === "" ? [] : [`Files: ${names}`]),
    ...(evidence === "" ? [] : [`Checked: ${evidence}`]),
    ...(outcome === "completed" || reason === "" ? [] : [`Why it is not done: ${reason}`]),
  ].join("\n");
}
