import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import type { Shown } from "../../core/tools/tool.ts";
import { countSteps, createPlan, formatPlan, markStep, type Plan, planSchema, stepStatus, updatePlan } from "./plan.ts";

/**
 * The plans of one conversation, in order of creation, and the one that is used when none is named.
 */
export const planBookSchema = z.strictObject({ active: z.string().nullable(), plans: z.array(planSchema) });

/** The plans of a conversation, one of which may be active. */
export type PlanBook = z.output<typeof planBookSchema>;

/** The book of a conversation without plans. */
export const emptyBook: PlanBook = { active: null, plans: [] };

/** A command on a book. Which fields a command needs is checked when it is executed. */
export const planCommand = z.strictObject({
  command: z.enum(["create", "update", "list", "get", "set_active", "mark_step", "delete"]),
  plan_id: z.string().optional().describe("Default: the active plan."),
  title: z.string().optional(),
  steps: z.array(z.string().min(1)).optional().describe("In order."),
  step_index: z.int().optional().describe("From 0."),
  step_status: stepStatus.optional(),
  step_notes: z.string().optional(),
});

/** A checked command. */
export type PlanCommand = z.output<typeof planCommand>;

/** The book after a command, the caller's result, and what it shows of a plan. */
export type PlanOutcome = { readonly book: PlanBook; readonly text: string; readonly shows?: Shown };

/**
 * Executes a command. `newId` names a created plan that was given no id. Throws `invalid_input` or
 * `not_found` with what to fix.
 */
export function carryOut(book: PlanBook, input: PlanCommand, newId: string): PlanOutcome {
  switch (input.command) {
    case "create":
      return create(book, input, newId);
    case "update":
      return update(book, input);
    case "list":
      return { book, text: listText(book) };
    case "get":
      return withPlanText(book, namedOrActive(book, input));
    case "set_active": {
      const plan = named(book, input);
      return withPlanText({ ...book, active: plan.id }, plan, `Plan '${plan.id}' is now the active plan.`);
    }
    case "mark_step":
      return mark(book, input);
    case "delete": {
      const { id } = named(book, input);
      const plans = book.plans.filter((plan) => plan.id !== id);
      return {
        book: { active: book.active === id ? null : book.active, plans },
        text: `Plan '${id}' has been deleted.`,
      };
    }
  }
}

// Models that fill in every field write "" and [] for those they mean to omit.
function given<T extends { readonly length: number }>(value: T | undefined): T | undefined {
  return value?.length === 0 ? undefined : value;
}

function create(book: PlanBook, input: PlanCommand, newId: string): PlanOutcome {
  const id = given(input.plan_id) ?? newId;
  if (book.plans.some((plan) => plan.id === id))
    throw invalid(`A plan with ID '${id}' already exists. Use 'update' to modify existing plans.`);
  const title = given(input.title);
  if (title === undefined) throw missing("title", input);
  const steps = given(input.steps);
  if (steps === undefined) throw invalid("Parameter `steps` must be a non-empty list of strings for command: create");
  const plan = createPlan(id, title, steps);
  const made = { active: id, plans: [...book.plans, plan] };
  return withPlanText(made, plan, `Plan created successfully with ID: ${id}`);
}

function update(book: PlanBook, input: PlanCommand): PlanOutcome {
  const title = given(input.title);
  const steps = given(input.steps);
  const plan = updatePlan(namedOrActive(book, input), {
    ...(title !== undefined && { title }),
    ...(steps && { steps }),
  });
  return withPlanText(withPlan(book, plan), plan, `Plan updated successfully: ${plan.id}`);
}

function mark(book: PlanBook, input: PlanCommand): PlanOutcome {
  const old = namedOrActive(book, input);
  if (input.step_index === undefined) throw missing("step_index", input);
  const notes = given(input.step_notes);
  if (input.step_status === undefined && notes === undefined) throw missing("step_status", input);
  const plan = markStep(old, input.step_index, {
    ...(input.step_status !== undefined && { status: input.step_status }),
    ...(notes !== undefined && { notes }),
  });
  return withPlanText(withPlan(book, plan), plan, `Step ${input.step_index} updated in plan '${plan.id}'.`);
}

/** The whole plan after what was done; of that, only what was done stays once it is out of date. */
function withPlanText(book: PlanBook, plan: Plan, done?: string): PlanOutcome {
  const whole = formatPlan(plan);
  const brief = `${done ?? `Plan: ${plan.title} (ID: ${plan.id})`} [The plan is left out; a later result shows it.]`;
  const shows = { of: `plan ${plan.id}`, whole: sha256Of(whole), brief };
  return { book, text: done === undefined ? whole : `${done}\n\n${whole}`, shows };
}

function listText({ plans, active }: PlanBook): string {
  if (plans.length === 0) return "No plans available. Create a plan with the 'create' command.";
  const lines = plans.map((plan) => {
    const progress = `${countSteps(plan).completed}/${plan.steps.length} steps completed`;
    return `• ${plan.id}${plan.id === active ? " (active)" : ""}: ${plan.title} - ${progress}\n`;
  });
  return `Available plans:\n${lines.join("")}`;
}

function named(book: PlanBook, input: PlanCommand): Plan {
  const id = given(input.plan_id);
  if (id === undefined) throw missing("plan_id", input);
  return find(book, id);
}

function namedOrActive(book: PlanBook, input: PlanCommand): Plan {
  const id = given(input.plan_id) ?? book.active;
  if (id === null) throw invalid("No active plan. Please specify a plan_id or set an active plan.");
  return find(book, id);
}

function find(book: PlanBook, id: string): Plan {
  const plan = book.plans.find((candidate) => candidate.id === id);
  if (plan === undefined) throw new AppError("not_found", `No plan found with ID: ${id}`);
  return plan;
}

function withPlan(book: PlanBook, plan: Plan): PlanBook {
  return { ...book, plans: book.plans.map((other) => (other.id === plan.id ? plan : other)) };
}

function missing(parameter: keyof PlanCommand, { command }: PlanCommand): AppError {
  return invalid(`Parameter \`${parameter}\` is required for command: ${command}`);
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}
