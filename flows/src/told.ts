import type { StepStatus } from "manyhands/tools";

/** How a step that a flow gave to an agent came out. `blocked`: it was not begun, or cannot be done as things stand. */
export type StepOutcome = "completed" | "failed" | "blocked";

/** How one of several branches came out. `canceled`: it was not needed any more, begun or not. */
export type BranchOutcome = "completed" | "failed" | "canceled";

/** Who made a choice: a rule without any model, the model, the person behind the task, or nobody, which means the default. */
export type ChosenBy = "rule" | "model" | "person" | "default";

/** A step of a plan as `plan-changed` tells it. */
export type PlannedStep = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  /** What shows that it is done; empty when nothing was agreed. */
  readonly expected: string;
  /** What the task asks for by name and this step hands over. */
  readonly delivers?: readonly string[];
  readonly status: StepStatus;
  /** Why it stands as it does: what it came to, or what is in its way. */
  readonly notes: string;
};
