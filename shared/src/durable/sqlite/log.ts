import { AppError } from "../../core/errors.ts";
import { terminalStatuses } from "../../core/runs/engine.ts";
import type { RunLog } from "../follow.ts";
import type { Watch } from "./watch.ts";
import type { Writer } from "./writer.ts";

/** The log of a run in the store's file. */
export function logOf({ writer, watch }: { readonly writer: Writer; readonly watch: Watch }, runId: string): RunLog {
  return {
    open: async () => watch.need(),
    read: (last, reached) =>
      writer.read(({ runs, events }) => {
        const run = runs.head(runId);
        if (run === null) throw new AppError("not_found", `There is no run ${runId}.`);
        reached(run.last_event);
        return {
          hasEnded: terminalStatuses.includes(run.status),
          end: run.last_event,
          events: run.last_event > last ? events.page(run, last) : [],
        };
      }),
  };
}
