import { abortable, createSlots, type Flow } from "manyhands/flows";
import type { Board } from "./board.ts";
import type { StepResult } from "./step-result.ts";
import type { TaskStep } from "./task-plan.ts";
import { notStarted, type WorkOptions, workStep } from "./work-step.ts";

/**
 * Carries out the steps, each as soon as those it depends on are done, at most `concurrency` at
 * once. A step whose dependency did not complete is blocked; all others are carried out. What
 * happens depends only on the steps' outcomes, never on which was first, so that a replay does the
 * same.
 */
export async function runSteps(
  flow: Flow,
  steps: readonly TaskStep[],
  finished: readonly StepResult[],
  board: Board,
  options: Omit<WorkOptions, "continues"> & { readonly concurrency: number },
): Promise<StepResult[]> {
  const slots = createSlots(options.concurrency);
  const continued = conversations([...finished.map(({ step }) => step), ...steps]);
  const ends = new Map(steps.map(({ id }) => [id, Promise.withResolvers<StepResult>()]));
  const resultOf = (id: string) => ends.get(id)?.promise ?? finished.find(({ step }) => step.id === id);
  return flow.all(
    steps.map((step) => async (branch) => {
      const signal = branch.run.abortSignal;
      const inputs = await abortable(Promise.all(step.dependsOn.map(resultOf)), signal);
      const missing = inputs.flatMap((input) => (input === undefined || input.outcome === "completed" ? [] : [input]));
      const result =
        missing.length > 0
          ? blocked(branch, step, missing, board)
          : await slots.within(signal, () =>
              workStep(
                branch,
                step,
                inputs.filter((input) => input !== undefined),
                board,
                { ...options, continues: continued.get(step.id) },
              ),
            );
      ends.get(step.id)?.resolve(result);
      return result;
    }),
  );
}

function blocked(flow: Flow, step: TaskStep, missing: readonly StepResult[], board: Board): StepResult {
  const reason = `It needs step ${missing.map((result) => result.step.id).join(", ")}, which did not complete.`;
  const { id, agent } = step;
  const note = `Step ${id}: blocked: ${reason}`;
  flow.tell({ type: "step-ended", note, data: { step: id, agent, attempt: 0, outcome: "blocked", reason } });
  board.mark(flow, id, "blocked", reason, note);
  return { ...notStarted(step), reason };
}

/**
 * The step whose conversation each step continues, by id: the last of its dependencies that the
 * same agent does. What that agent has open (pages, logins, a shell, variables) is still there
 * then. Only one step continues a conversation, the first in the plan, so that no two share it; a
 * step without one to continue starts its own.
 */
function conversations(steps: readonly TaskStep[]): ReadonlyMap<string, string> {
  const agents = new Map(steps.map(({ id, agent }) => [id, agent]));
  const taken = new Set<string>();
  const found = new Map<string, string>();
  for (const { id, agent, dependsOn } of steps) {
    const before = dependsOn.findLast((other) => agents.get(other) === agent && !taken.has(other));
    if (before === undefined) continue;
    taken.add(before);
    found.set(id, before);
  }
  return found;
}
