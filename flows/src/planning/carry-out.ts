import { AppError } from "manyhands";
import type { Flow, FlowResult } from "manyhands/flows";
import { withAdditions } from "../prompt-text.ts";
import type { Board } from "./board.ts";
import { conclude } from "./conclude.ts";
import { deliversFile, handOnSteps } from "./deliverables.ts";
import { type PlanBrief, revisePlan } from "./make-plan.ts";
import { reportResult } from "./report.ts";
import { runSteps } from "./run-steps.ts";
import { resultsText, type StepResult } from "./step-result.ts";
import type { TaskPlan, TaskStep } from "./task-plan.ts";
import type { WorkOptions } from "./work-step.ts";

/** How a plan is carried out. */
export type CarryOptions = {
  readonly concurrency: number;
  readonly attempts: number;
  readonly replans: number;
  readonly stepDeadlineMs?: number | undefined;
};

/**
 * Carries out a plan to its end. If steps did not complete, something that the task asks for is
 * missing, or the caller added something, the rest is planned anew, as often as allowed; finished
 * steps stay. Rejects with `task_failed` and a report as partial answer if the task was not done,
 * and with the error of a limit that was reached.
 */
export async function carryOut(
  flow: Flow,
  first: TaskPlan,
  brief: PlanBrief,
  board: Board,
  options: CarryOptions,
): Promise<FlowResult> {
  let plan = first;
  let goal = brief.goal;
  let results: readonly StepResult[] = [];
  for (let replans = 0; ; replans++) {
    const isLast = replans === options.replans;
    const isCheckedAtOnce = checkedAtOnce(plan);
    results = await round(flow, plan, results, board, { ...options, goal, isCheckedAtOnce });
    let missing: readonly string[] = [];
    let added = await flow.receiveMessages();
    if (isLast) goal = withAdditions(goal, added);
    if (results.every(isDone) && (isLast || added.length === 0)) {
      const end = await conclude(flow, goal, results, board);
      if ("report" in end) {
        added = await flow.receiveMessages();
        if (isLast || added.length === 0) return end.report;
      } else ({ results, missing } = end);
    }
    if (isLast) throw await unfinished(flow, goal, results, missing);
    goal = withAdditions(goal, added);
    flow.expect(1, { own: true });
    const revision = await revisePlan(flow, { ...brief, goal }, plan, results, missing);
    if (revision.verdict === "impossible") throw await unfinished(flow, goal, results, [], revision.reason);
    if (revision.verdict === "enough") {
      if (missing.length > 0) throw await unfinished(flow, goal, results, missing);
      const end = await conclude(flow, goal, results, board);
      if ("report" in end) return end.report;
      throw await unfinished(flow, goal, end.results, end.missing);
    }
    plan = revision.plan;
    results = results.filter(isDone);
    board.post(flow, plan, `Planned anew: ${revision.reason}`);
  }
}

/**
 * The steps that a model checks at once: the only one of a plan, and those that others build on
 * where no file shows that they are done. All others are checked together at the end.
 */
function checkedAtOnce({ steps }: TaskPlan): (step: TaskStep) => boolean {
  const needed = new Set(steps.flatMap(({ dependsOn }) => dependsOn));
  return (step) => steps.length === 1 || (needed.has(step.id) && !deliversFile(step));
}

/** How a plan is carried out, for which task, and which steps are checked before others begin. */
export type RoundOptions = CarryOptions & Pick<WorkOptions, "goal" | "isCheckedAtOnce">;

/** Works on every unfinished step; returns all results in the plan's order. */
export async function round(
  flow: Flow,
  plan: TaskPlan,
  finished: readonly StepResult[],
  board: Board,
  options: RoundOptions,
): Promise<StepResult[]> {
  const open = plan.steps.filter(({ id }) => !finished.some(({ step }) => step.id === id));
  flow.expect(open.length, { own: true });
  const { stepDeadlineMs, ...rest } = options;
  const isWhole = plan.steps.length === 1;
  const worked = await runSteps(flow, open, finished, board, { ...rest, stepDeadlineMs, isWhole });
  const results = [...finished, ...worked];
  handOnSteps(flow, results, worked);
  flow.reached(resultsText(results));
  const fatal = worked.find((result) => result.fatal !== undefined)?.fatal;
  if (fatal === undefined) return results;
  throw fatal;
}

/**
 * Publishes the results so far, and returns the error to end with: by this reason, or by what is
 * not done.
 */
export async function unfinished(
  flow: Flow,
  goal: string,
  results: readonly StepResult[],
  missing: readonly string[],
  reason = [...results.filter((result) => !isDone(result)).map(reasonOf), ...missing.map(missingText)].join(" "),
): Promise<AppError> {
  const { answer } = await reportResult(flow, goal, results, { isAnswer: false });
  flow.reached(answer);
  return new AppError("task_failed", `The task was not done. ${reason}`);
}

/** Whether a step completed. */
function isDone({ outcome }: StepResult): boolean {
  return outcome === "completed";
}

function missingText(missing: string): string {
  return `Missing: ${missing}`;
}

function reasonOf({ step, reason }: StepResult): string {
  return `Step ${step.id} (${step.agent}): ${reason}`;
}
