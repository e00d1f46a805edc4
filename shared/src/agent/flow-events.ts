import type { StepStatus } from "../tools/planning/plan.ts";

/** How a step that a flow gave to an agent came out. `blocked`: it was not begun, or cannot be done as things stand. */
export type StepOutcome = "completed" | "failed" | "blocked";

/** A step of a flow's plan as its events tell it. */
export type PlannedStep = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  /** What shows that it is done; empty when nothing was agreed. */
  readonly expected: string;
  readonly status: StepStatus;
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
    };
