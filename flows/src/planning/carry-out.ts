import { AppError } from "manyhands";
import type { Flow, FlowResult } from "manyhands/flows";
import { withAdditions } from "../prompt-text.ts";
import type { Board } from "./board.ts";
import { handOnSteps } from "./deliverables.ts";
import { judgeTask } from "./judge-task.ts";
import { type PlanBrief, revisePlan } from "./make-plan.ts";
import { reportResult } from "./report.ts";
import { runSteps } from "./run-steps.ts";
import { resultsText, type StepResult } from "./step-result.ts";
import type { TaskPlan } from "./task-plan.ts";

/** How a plan is carried out. */
type CarryOptions = {
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
  let results: StepResult[] = [];
  for (let replans = 0; ; replans++) {
    results = await round(flow, plan, results, board, { ...options, goal });
    const failed = results.filter(({ outcome }) => outcome !== "completed");
    let added = await flow.receiveMessages();
    const missing = failed.length === 0 ? await missingOf(flow, goal, plan, results) : [];
    if (failed.length === 0 && missing.length === 0 && added.length === 0) {
      const report = await reportResult(flow, goal, results);
      added = await flow.receiveMessages();
      if (added.length === 0 || replans === options.replans) return report;
    }
    goal = withAdditions(goal, added);
    if (replans === options.replans) {
      if (failed.length === 0 && missing.length === 0) return reportResult(flow, goal, results);
      throw await unfinished(flow, goal, results, [...failed.map(reasonOf), ...missing.map(missingText)].join(" "));
    }
    flow.expect(1, { own: true });
    const revision = await revisePlan(flow, { ...brief, goal }, plan, results, missing);
    if (revision.verdict === "impossible") throw await unfinished(flow, goal, results, revision.reason);
    if (revision.verdict === "enough") {
      const left = missing.length > 0 ? missing : await judgeTask(flow, goal, results);
      if (left.length === 0) return reportResult(flow, goal, results);
      throw await unfinished(flow, goal, results, left.map(missingText).join(" "));
    }
    plan = revision.plan;
    results = results.filter(({ outcome }) => outcome === "completed");
    board.post(flow, plan, `Planned anew: ${revision.reason}`);
  }
}

/** Works on every unfinished step; returns all results in the plan's order. */
async function round(
  flow: Flow,
  plan: TaskPlan,
  finished: readonly StepResult[],
  board: Board,
  options: CarryOptions & { readonly goal: string },
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

/** Publishes the results so far, and returns the error to end with. */
async function unfinished(flow: Flow, goal: string, results: readonly StepResult[], reason: string): Promise<AppError> {
  const { answer } = await reportResult(flow, goal, results, { isAnswer: false });
  flow.reached(answer);
  return new AppError("task_failed", `The task was not done. ${reason}`);
}

/**
 * What the task asks for and the completed steps did not deliver. A plan's only step was already
 * checked against the whole task.
 */
async function missingOf(
  flow: Flow,
  goal: string,
  plan: TaskPlan,
  results: readonly StepResult[],
): Promise<readonly string[]> {
  return plan.steps.length === 1 ? [] : judgeTask(flow, goal, results);
}

function missingText(missing: string): string {
  return `Missing: ${missing}`;
}

function reasonOf({ step, reason }: StepResult): string {
  return `Step ${step.id} (${step.agent}): ${reason}`;
}
