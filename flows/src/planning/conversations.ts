import type { TaskStep } from "./task-plan.ts";

/**
 * The step in whose conversation each step goes on, by id: of those it depends on, the last one that its own agent does. What that agent has open
 * (pages, logins, a shell, variables) is still there then. A conversation goes on in one step only, the first in the plan, so that no two meet in it;
 * whatever has none to go on in begins its own.
 */
export function conversations(steps: readonly TaskStep[]): ReadonlyMap<string, string> {
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
