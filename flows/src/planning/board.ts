import type { Flow } from "manyhands/flows";
import { createPlan, formatPlan, markStep, type StepStatus } from "manyhands/tools";
import type { TaskPlan } from "./task-plan.ts";

/**
 * A plan in progress: the status of each step, emitted at every change and kept as an artifact.
 * Branches share it; no decision depends on it.
 */
export type Board = {
  /** Replaces the plan. Steps that stay keep their status. */
  post(flow: Flow, plan: TaskPlan, note: string): void;
  mark(flow: Flow, step: string, status: StepStatus, notes: string, note: string): void;
};

/** A step of a plan as `plan-changed` reports it. */
type PlannedStep = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  /** What shows that it is done; empty if nothing was agreed. */
  readonly expected: string;
  /** What the task asks for by name and this step delivers. */
  readonly delivers?: readonly string[];
  readonly status: StepStatus;
  /** The reason for its status: its result, or what blocks it. */
  readonly notes: string;
};

type Mark = Pick<PlannedStep, "status" | "notes">;

const unmarked: Mark = { status: "not_started", notes: "" };

/** Creates an empty board. */
export function createBoard(): Board {
  let plan: TaskPlan = { id: "", title: "", steps: [] };
  const marks = new Map<string, Mark>();
  const steps = () => plan.steps.map((step): PlannedStep => ({ ...step, ...(marks.get(step.id) ?? unmarked) }));
  const text = () => {
    const lines = plan.steps.map(({ agent, text }) => `[${agent}] ${text.replaceAll(/\s+/g, " ")}`);
    return formatPlan(
      steps().reduce(
        (marked, { status, notes }, index) => markStep(marked, index, { status, notes }),
        createPlan(plan.id, plan.title, lines),
      ),
    );
  };
  const tell = (flow: Flow, note: string) => {
    const now = { text: text(), steps: steps() };
    flow.tell({ type: "plan-changed", note, data: now });
    flow.artifact("plan.md", [
      { type: "text", text: now.text, mediaType: "text/markdown" },
      { type: "data", data: { id: plan.id, title: plan.title, steps: now.steps } },
    ]);
  };
  return {
    post(flow, next, note) {
      for (const [id, { status }] of marks) if (status !== "completed") marks.delete(id);
      plan = next;
      tell(flow, note);
    },
    mark(flow, step, status, notes, note) {
      marks.set(step, { status, notes });
      tell(flow, note);
    },
  };
}
