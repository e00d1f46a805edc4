import { readEvent } from "../core/events/read-event.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";

/** Runs of a family at most: what a run asked for, and what those asked for. */
const maxRuns = 500;

/**
 * The run, and those that it asked for and that are in this store, each after the one that asked.
 */
export async function familyOf(engine: Pick<Engine, "get" | "events">, run: RunRecord): Promise<RunRecord[]> {
  const found = new Map([[run.id, run]]);
  for (const one of found.values())
    for (const { event } of await engine.events(one.id)) {
      const read = readEvent(event);
      if (read.type !== "agent-accepted" || found.has(read.taskId) || found.size === maxRuns) continue;
      const asked = await engine.get(read.taskId, run.principal);
      if (asked !== undefined) found.set(asked.id, asked);
    }
  return [...found.values()];
}
