import { type AgentEntry, meantAgent } from "manyhands/flows";
import type { DraftSteps } from "./plan-draft.ts";

/**
 * A step of a plan that can be carried out: its agent is known, and its dependencies end before it.
 */
export type TaskStep = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  /** What shows that it is done; empty if nothing was agreed beyond what the step says. */
  readonly expected: string;
  /** What the task asks for by name and this step delivers. */
  readonly delivers: readonly string[];
};

/** A plan to carry out a task; its steps are in an order in which they could be done one by one. */
export type TaskPlan = { readonly id: string; readonly title: string; readonly steps: readonly TaskStep[] };

/** An agent chosen by a skill, and why. */
export type Chosen = { readonly wanted: string; readonly agent: string; readonly reason: string };

/** The result of reading a draft: steps that can be carried out, or what is wrong. */
export type ReadDraft =
  | { readonly steps: readonly TaskStep[]; readonly chosen: readonly Chosen[] }
  | { readonly fault: string };

/** What a draft is checked against. */
export type DraftBounds = {
  readonly agents: readonly AgentEntry[];
  /** Steps that are already done and stay. */
  readonly finished: readonly TaskStep[];
  readonly maxSteps: number;
};

/**
 * The steps of a draft, corrected if the meaning is plain: an agent spelled differently, or named
 * by its skill after `skill:`; steps without ids; the order. Everything else that is wrong is
 * reported at once as `fault`: unknown agents, missing or duplicate ids, cyclic dependencies.
 */
export function readDraft(draft: DraftSteps, { agents, finished, maxSteps }: DraftBounds): ReadDraft {
  const steps: TaskStep[] = [];
  const chosen: Chosen[] = [];
  const faults: string[] = [];
  const taken = new Set(finished.map(({ id }) => id));
  for (const [index, { id = freeId(index, taken), text, agent, depends_on, expected, delivers }] of draft.entries()) {
    const meant = meantAgent(agent, agents);
    if (meant === undefined) {
      faults.push(`Step ${id}: there is no agent "${agent}"; there are ${agents.map(({ name }) => name).join(", ")}.`);
    }
    if (meant?.reason !== undefined) chosen.push({ wanted: agent, agent: meant.agent.name, reason: meant.reason });
    if (taken.has(id)) faults.push(`There is a step ${id} already; give each its own id.`);
    taken.add(id);
    const dependsOn = [...new Set(depends_on.map(String))];
    steps.push({ id, text, agent: meant?.agent.name ?? agent, dependsOn, expected, delivers });
  }
  for (const { id, dependsOn } of steps) {
    const missing = dependsOn.filter((other) => !taken.has(other));
    if (missing.length > 0) faults.push(`Step ${id} depends on ${missing.join(", ")}, which no step is.`);
  }
  if (steps.length > maxSteps) faults.push(`The plan has ${steps.length} steps; ${maxSteps} is the most.`);
  const { ordered, ring } = inOrder(steps, taken, new Set(finished.map(({ id }) => id)));
  if (ring.length > 0) {
    const ids = ring.map(({ id }) => id).join(", ");
    faults.push(`The steps ${ids} wait for each other in a ring; none of them could begin.`);
  }
  return faults.length > 0 ? { fault: faults.join("\n") } : { steps: ordered, chosen };
}

/** The number of a step without an id, or the next free one. */
function freeId(index: number, taken: ReadonlySet<string>): string {
  for (let number = index + 1; ; number++) if (!taken.has(String(number))) return String(number);
}

/**
 * The steps ordered so that each comes after its dependencies, otherwise unchanged; `ring` are
 * those in a cycle. Unknown dependencies are ignored.
 */
function inOrder(steps: readonly TaskStep[], known: ReadonlySet<string>, done: Set<string>) {
  const ordered: TaskStep[] = [];
  const left = [...steps];
  for (;;) {
    const next = left.findIndex(({ dependsOn }) => dependsOn.every((id) => done.has(id) || !known.has(id)));
    if (next === -1) return { ordered, ring: left };
    for (const step of left.splice(next, 1)) {
      ordered.push(step);
      done.add(step.id);
    }
  }
}
