import type { JournalEvent } from "../../core/events.ts";
import type { Run } from "../../core/run.ts";
import type { TaskUsage } from "../../core/usage.ts";
import { callOff } from "./call-off.ts";
import { openAsks } from "./open-asks.ts";
import type { Peers } from "./peers.ts";

/**
 * Cancels at the other agents what was asked below `run` and is still open: call it after a `run.all` that rejected or a `run.race`, whose
 * aborted branches could not do so themselves. Answers how many agents could not be told; `recalling` sees to those.
 */
export async function cancelOpen(run: Run, peers: Peers): Promise<number> {
  // Its record is on disk when the next step begins, and with it every event before it: only then do the events tell what is open.
  await run.step("settle asks", async () => null, { effect: "pure" });
  return run.step("cancel open asks", async (step) => {
    const events = await peers.engine.events(run.id);
    const below = step.key.slice(0, step.key.lastIndexOf("/") + 1);
    const open = openAsks(events.map(({ event }) => event)).filter(({ askId }) => askId.startsWith(below));
    const calledOff = await Promise.all(open.map((ask) => callOff(ask, peers, step.signal)));
    for (const [index, { askId, agent }] of open.entries()) {
      const { done = false, usage } = calledOff[index] ?? {};
      if (done) step.emit(canceled(askId, agent.name, usage));
    }
    return calledOff.filter(({ done }) => !done).length;
  });
}

function canceled(askId: string, agent: string, usage: TaskUsage | undefined) {
  const event = { type: "agent-answered", askId, agent, state: "canceled", files: [] } as const satisfies JournalEvent;
  return { ...event, ...(usage !== undefined && { usage }) };
}
