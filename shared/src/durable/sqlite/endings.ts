import type { RunEnded } from "../../core/events.ts";
import type { RunEvent } from "../../core/run.ts";
import type { Ending } from "../replay/run-store.ts";
import type { Moment } from "./run-clock.ts";
import type { Tables } from "./tables/tables.ts";

/**
 * Ends a run and appends its last event. Call it inside the transaction that established that it
 * may end now.
 */
export function endRun(tables: Tables, n: number, ending: Ending, now: Moment): number {
  const error = ending.status === "failed" ? { error: ending.error } : {};
  const ended: RunEnded = { type: "run-ended", status: ending.status, ...error };
  const seq = tables.events.append(n, [ended satisfies RunEvent], now);
  const output = ending.status === "completed" ? { output: JSON.stringify(ending.output) } : {};
  tables.states.end(n, ending.status, { ...output, ...error }, now);
  return seq;
}
