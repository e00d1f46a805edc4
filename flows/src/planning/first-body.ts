import type { Flow, FlowResult } from "manyhands/flows";
import { withAdditions } from "../prompt-text.ts";
import type { Board } from "./board.ts";
import { type CarryOptions, round, unfinished } from "./carry-out.ts";
import { judgeTask } from "./judge-task.ts";
import { type PlanBrief, revisePlan } from "./make-plan.ts";
import { reportResult } from "./report.ts";
import type { StepResult } from "./step-result.ts";
import type { TaskPlan } from "./task-plan.ts";

/**
 * What `carryOut` was in the first version of the flow's body, for runs that began with it: each
 * step is checked by itself, then the whole task, then the answer is written.
 */
export async function carryOutFirst(
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
    results = await round(flow, plan, results, board, { ...options, goal, isCheckedAtOnce: () => true });
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
      throw await unfinished(flow, goal, results, missing);
    }
    flow.expect(1, { own: true });
    const revision = await revisePlan(flow, { ...brief, goal }, plan, results, missing);
    if (revision.verdict === "impossible") throw await unfinished(flow, goal, results, [], revision.reason);
    if (revision.verdict === "enough") {
      const left = missing.length > 0 ? missing : await judgeTask(flow, goal, results);
      if (left.length === 0) return reportResult(flow, goal, results);
      throw await unfinished(flow, goal, results, left);
    }
    plan = revision.plan;
    results = results.filter(({ outcome }) => outcome === "completed");
    board.post(flow, plan, `Planned anew: ${revision.reason}`);
  }
}

/** A plan's only step was already checked against the whole task. */
async function missingOf(
  flow: Flow,
  goal: string,
  plan: TaskPlan,
  results: readonly StepResult[],
): Promise<readonly string[]> {
  return plan.steps.length === 1 ? [] : judgeTask(flow, goal, results);
}
