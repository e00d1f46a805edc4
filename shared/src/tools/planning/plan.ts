import * as z from "zod";
import { AppError } from "../../core/errors.ts";

/** The statuses of a step, with the mark for each in a plan's text. */
const stepMarks = { not_started: "[ ]", in_progress: "[→]", completed: "[✓]", blocked: "[!]" } as const;

/** How far a step of a plan is. */
export const stepStatus = z.enum(["not_started", "in_progress", "completed", "blocked"]);

/** A plan as it is stored. */
export const planSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  steps: z.array(z.strictObject({ text: z.string(), status: stepStatus, notes: z.string() })),
});

/** The status of a plan's step. */
export type StepStatus = z.output<typeof stepStatus>;

/** A plan: its steps in order, each with its status and notes. */
export type Plan = z.output<typeof planSchema>;
/** A step of a plan. */
export type PlanStep = Plan["steps"][number];

/** A plan in which no step has been started. Steps are addressed by their index from 0. */
export function createPlan(id: string, title: string, steps: readonly string[]): Plan {
  return { id, title, steps: steps.map(newStep) };
}

/**
 * The plan with another title or other steps; a step with unchanged text keeps its status and
 * notes, wherever it moves.
 */
export function updatePlan(plan: Plan, change: { readonly title?: string; readonly steps?: readonly string[] }): Plan {
  const left = [...plan.steps];
  const keep = (text: string): PlanStep => {
    const index = left.findIndex((step) => step.text === text);
    return index === -1 ? newStep(text) : (left.splice(index, 1)[0] ?? newStep(text));
  };
  return { id: plan.id, title: change.title ?? plan.title, steps: change.steps?.map(keep) ?? plan.steps };
}

/**
 * The plan with another status or notes at one step; throws `invalid_input` when there is no such
 * step.
 */
export function markStep(
  plan: Plan,
  index: number,
  mark: { readonly status?: StepStatus; readonly notes?: string },
): Plan {
  const step = plan.steps[index];
  if (step === undefined)
    throw new AppError(
      "invalid_input",
      `Invalid step_index: ${index}. Valid indices range from 0 to ${plan.steps.length - 1}.`,
    );
  return { ...plan, steps: plan.steps.with(index, { ...step, ...mark }) };
}

/** The number of steps of each status. */
export function countSteps(plan: Plan): Readonly<Record<StepStatus, number>> {
  const counts = { not_started: 0, in_progress: 0, completed: 0, blocked: 0 };
  for (const step of plan.steps) counts[step.status]++;
  return counts;
}

/** The plan as text for models and people. */
export function formatPlan(plan: Plan): string {
  const header = `Plan: ${plan.title} (ID: ${plan.id})`;
  const count = countSteps(plan);
  const total = plan.steps.length;
  const percent = total === 0 ? "0" : ((100 * count.completed) / total).toFixed(1);
  const steps = plan.steps.map(
    ({ text, status, notes }, index) =>
      `${index}. ${stepMarks[status]} ${text}\n${notes === "" ? "" : `   Notes: ${notes}\n`}`,
  );
  return `${header}
${"=".repeat([...header].length + 1)}

Progress: ${count.completed}/${total} steps completed (${percent}%)
Status: ${count.completed} completed, ${count.in_progress} in progress, ${count.blocked} blocked, ${count.not_started} not started

Steps:
${steps.join("")}`;
}

function newStep(text: string): PlanStep {
  return { text, status: "not_started", notes: "" };
}
