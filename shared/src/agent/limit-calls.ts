import type { Act } from "./react.ts";
import { refuse } from "./refuse.ts";

/** Lets as many calls of one turn through as the task allows. Each other gets a result that says so. */
export function limitCalls(act: Act): Act {
  return async (calls, task) => {
    const { callsPerTurn } = task.limits;
    await act(calls.slice(0, callsPerTurn), task);
    const text = `Not called: one turn may make ${callsPerTurn} calls. Make it again in a later turn if it is still needed.`;
    for (const call of calls.slice(callsPerTurn)) refuse(call, text, task);
  };
}
