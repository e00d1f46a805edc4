import { silentLog } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { Execution } from "../../durable/replay/execution.ts";
import type { ExecutionOptions } from "../../durable/replay/execution-context.ts";
import { Journal } from "../../durable/replay/journal.ts";
import type { MemoryRunStore } from "./memory-run-store.ts";

/** Begins to execute a body of the run `r` on a store; `over` changes what the execution has. */
export async function executionOn(
  store: MemoryRunStore,
  execute: (run: Run) => Promise<unknown>,
  over: Partial<ExecutionOptions> = {},
): Promise<Execution> {
  const execution = new Execution(await Journal.load(store), {
    runId: "r",
    principal: "p",
    contextId: "c",
    store,
    log: silentLog,
    clock: () => 0,
    stopMs: 100,
    progress: () => undefined,
    ...over,
  });
  execution.start({ execute: async (run) => (await execute(run)) as never }, null);
  return execution;
}

/** Lets the event loop turn so often, so that whatever can go on has. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
