import type { RunEnded } from "../../../core/events/events.ts";
import type { RunEvent } from "../../../core/runs/run.ts";
import type { Ending } from "../../replay/run-store.ts";
import type { Moment } from "../run-clock.ts";
import type { Result } from "../tables/runs-table.ts";
import type { Tables } from "../tables/tables.ts";

/**
 * Ends a run and appends its last event. Call it inside the transaction that established that it
 * may end now.
 */
export function endRun(tables: Tables, n: number, ending: Ending, now: Moment): number {
  const seq = tables.states.end(n, resultOf(ending), now);
  tables.events.last(n, endedEvent(ending), seq, now);
  return seq;
}

/** The last event of a run that ends so. */
export function endedEvent(ending: Ending): RunEnded & RunEvent {
  const error = ending.status === "failed" ? { error: ending.error } : {};
  return { type: "run-ended", status: ending.status, ...error };
}

/** An ending as a run's row has it: output and error are JSON texts. */
export function resultOf(ending: Ending): Result {
  return {
    status: ending.status,
    output: ending.status === "completed" ? JSON.stringify(ending.output) : null,
    error: ending.status === "failed" ? JSON.stringify(ending.error) : null,
  };
}
