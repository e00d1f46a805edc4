import { readEvent } from "manyhands/internal/core/events/read-event";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import { familyOf } from "manyhands/internal/runs/family";

/**
 * An agent that was asked: its name, and the address it was asked at; undefined: where it is now.
 */
export type AskedAgent = { readonly name: string; readonly url: string | undefined };

/**
 * Finds the agent that a run, or one that it asked for, asked for a task; undefined if none was.
 */
export type FindAsked = (run: RunRecord, task: string) => Promise<AskedAgent | undefined>;

/** Tasks that are remembered at most. */
const capacity = 256;

/**
 * Finds asked agents in the journals, which are read once for each task: who was asked for it never
 * changes.
 */
export function createFindAsked(engine: Pick<Engine, "get" | "events">): FindAsked {
  const known = new Map<string, AskedAgent>();
  return async (run, task) => {
    const key = JSON.stringify([run.id, task]);
    const agent = known.get(key) ?? (await search(engine, run, task));
    if (agent === undefined) return undefined;
    known.delete(key);
    known.set(key, agent);
    const oldest = known.keys().next().value;
    if (known.size > capacity && oldest !== undefined) known.delete(oldest);
    return agent;
  };
}

async function search(
  engine: Pick<Engine, "get" | "events">,
  run: RunRecord,
  task: string,
): Promise<AskedAgent | undefined> {
  for (const one of await familyOf(engine, run)) {
    const events = (await engine.events(one.id)).map(({ event }) => readEvent(event));
    const accepted = events.find((event) => event.type === "agent-accepted" && event.taskId === task);
    if (accepted?.type !== "agent-accepted") continue;
    const ask = events.find((event) => event.type === "agent-asked" && event.askId === accepted.askId);
    if (ask?.type === "agent-asked") return { name: accepted.agent, url: ask.url };
  }
  return undefined;
}
