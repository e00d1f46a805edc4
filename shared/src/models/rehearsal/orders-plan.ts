import type { Acting, Scene, ScriptCall } from "./script.ts";

const steps = ["Look at orders.csv", "Compute the figures", "Check them a second way", "Write and verify report.md"];

/** The plan kept beside the work, as calls to add to a turn; empty where there is no planning tool, or it failed. */
export type Plan = { mark(step: number, status: "in_progress" | "completed" | "blocked"): readonly ScriptCall[] };

/** Makes the plan. A plan that cannot be kept is no reason not to work. */
export function* makePlan(scene: Scene, say: string): Acting<Plan> {
  const planId = "orders-report";
  if (!scene.tools.has("planning")) return { mark: () => [] };
  const args = { command: "create", plan_id: planId, title: "Summarise orders.csv", steps };
  const [result = ""] = yield { say, calls: [{ name: "planning", args }] };
  if (!result.includes(steps[0] ?? "")) return { mark: () => [] };
  return {
    mark: (step, status) => [
      { name: "planning", args: { command: "mark_step", plan_id: planId, step_index: step, step_status: status } },
    ],
  };
}
