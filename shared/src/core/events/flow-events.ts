/** How far a line of a plan is. */
export type PlanItemStatus = "not_started" | "in_progress" | "completed" | "blocked";

/** How a step that a flow gave to an agent came out. `blocked`: it was not begun, or cannot be done as things stand. */
export type StepOutcome = "completed" | "failed" | "blocked";

/** How one of several branches came out. `canceled`: it was not needed any more, begun or not. */
export type BranchOutcome = "completed" | "failed" | "canceled";

/** Who made a choice: a rule without any model, the model, the person behind the task, or nobody, which means the default. */
export type ChosenBy = "rule" | "model" | "person" | "default";

/** A step of a flow's plan as its events tell it. */
export type PlannedStep = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  /** What shows that it is done; empty when nothing was agreed. */
  readonly expected: string;
  /** What the task asks for by name and this step hands over. */
  readonly delivers?: readonly string[];
  readonly status: PlanItemStatus;
  /** Why it stands as it does: what it came to, or what is in its way. */
  readonly notes: string;
};

/**
 * What a flow's run tells beside the events that every run has. Each has a `note`: one line for people. Stored in this shape: a field may
 * be added, never changed.
 */
export type FlowEvent =
  /** An agent was wanted by a skill or a description, and this is the one that fits. */
  | {
      readonly type: "agent-chosen";
      readonly wanted: string;
      readonly agent: string;
      readonly reason: string;
      readonly note: string;
    }
  /** A step was given to an agent; `attempt` counts from 1. */
  | {
      readonly type: "step-assigned";
      readonly step: string;
      readonly agent: string;
      readonly attempt: number;
      readonly note: string;
    }
  /** A step came to an end, or an attempt at it: `reason` tells why it did not complete, `evidence` why it counts as completed. */
  | {
      readonly type: "step-ended";
      readonly step: string;
      readonly agent: string;
      readonly attempt: number;
      readonly outcome: StepOutcome;
      readonly reason?: string;
      readonly evidence?: string;
      readonly note: string;
    }
  /** The plan as it now stands: `text` in the format of the planning tool, with its marks. */
  | {
      readonly type: "plan-changed";
      readonly text: string;
      readonly steps: readonly PlannedStep[];
      readonly note: string;
    }
  /** One of several branches began; `branch` is its number or name. */
  | { readonly type: "branch-begun"; readonly branch: string; readonly agent: string; readonly note: string }
  | {
      readonly type: "branch-ended";
      readonly branch: string;
      readonly agent: string;
      readonly outcome: BranchOutcome;
      readonly reason?: string;
      readonly note: string;
    }
  /** What has to come of the branches has come, or cannot come any more. */
  | {
      readonly type: "policy-settled";
      readonly policy: string;
      readonly met: boolean;
      readonly reason: string;
      readonly note: string;
    }
  /** One of several ways was taken. */
  | {
      readonly type: "choice-made";
      readonly choice: string;
      readonly by: ChosenBy;
      readonly reason: string;
      readonly note: string;
    }
  /** An attempt of a loop, counted from 1. */
  | { readonly type: "iteration-begun"; readonly iteration: number; readonly agent: string; readonly note: string }
  /** The attempt was checked, or failed before it could be: `feedback` goes to the next one. */
  | {
      readonly type: "iteration-ended";
      readonly iteration: number;
      readonly agent: string;
      readonly outcome: "passed" | "not_passed" | "failed";
      readonly feedback: string;
      /** How much of what was wanted is there, from 0 to 1, where the check tells. */
      readonly score?: number;
      readonly note: string;
    }
  /** A round of a debate, counted from 1. The first tells who argues for what. */
  | {
      readonly type: "round-begun";
      readonly round: number;
      readonly positions?: readonly { readonly debater: string; readonly agent: string; readonly position: string }[];
      readonly note: string;
    }
  /** A debater made the argument of this number. */
  | {
      readonly type: "argument-made";
      readonly round: number;
      readonly argument: number;
      readonly debater: string;
      readonly agent: string;
      readonly note: string;
    }
  /** A debater gave no argument in a round. */
  | {
      readonly type: "debater-absent";
      readonly round: number;
      readonly debater: string;
      readonly agent: string;
      readonly reason: string;
      readonly note: string;
    }
  /** `agreed`: the debaters do not differ any more, and there is no further round. */
  | {
      readonly type: "round-ended";
      readonly round: number;
      readonly agreed: boolean;
      readonly reason: string;
      readonly note: string;
    }
  /** A judge decided; `citations` are the numbers of the arguments it goes by. */
  | {
      readonly type: "verdict-given";
      readonly judge: string;
      readonly decision: string;
      /** From 0 to 1. */
      readonly confidence: number;
      readonly dissent: string;
      readonly citations: readonly number[];
      readonly note: string;
    };
