import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../core/json.ts";
import { programs } from "../../testing/durable/arbitrary-program.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore, type RunState } from "../../testing/durable/memory-run-store.ts";
import {
  type Effect,
  operationsOf,
  type Program,
  payloadOf,
  programDefinition,
  simulate,
} from "../../testing/durable/program.ts";
import { sweepSize } from "../../testing/sweep-size.ts";
import type { ExecutionOutcome } from "./execution.ts";

/**
 * Steps take a few turns each, others with each seed, so that every execution interleaves its
 * branches differently.
 */
function traced(trace: string[], seed: number): Effect {
  let calls = seed;
  return async (key, value) => {
    trace.push(key);
    calls = (calls * 16807 + 11) % 2147483647;
    for (let turns = calls % 4; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    return value;
  };
}

/** Executes the program on a store until it ends; what it waits for arrives when it parks. */
async function runOut(program: Program, from: RunState, seed: number) {
  const store = new MemoryRunStore(from);
  const trace: string[] = [];
  const definition = programDefinition("program", traced(trace, seed));
  let now = 0;
  for (let executions = 0; executions < 200; executions++) {
    const execution = await executionOn(store, (run) => definition.execute(run, program as Json), { clock: () => now });
    const outcome: ExecutionOutcome = await execution.done;
    if (outcome !== "parked") return { store, trace, outcome };
    const { parking } = store.state;
    for (const name of parking?.signals ?? []) {
      if (name !== "never") store.state.signals.push({ name, payload: JSON.stringify(payloadOf(name)) });
    }
    now = Math.max(now, parking?.wakeAt ?? 0);
  }
  throw new Error("The program did not end.");
}

const outputOf = (state: RunState) => (state.ending?.status === "completed" ? state.ending.output : state.ending);
const sorted = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).toSorted();

/**
 * Once found: at replay the loser reaches its wait in the same turn in which its siblings' failure
 * aborts it.
 */
const abortBeforeWait: Program = [{ do: "all", branches: [[{ do: "failing-all", value: 0, loser: [0, 0, 0, 0] }]] }];

test("from any prefix of its journal a program continues to the same result, repeating no recorded step", async () => {
  await fc.assert(
    fc.asyncProperty(programs([0, 1, 5000]), fc.nat(1_000_000), async (program, seed) => {
      const whole = await runOut(program, emptyState(), seed);
      expect(outputOf(whole.store.state)).toEqual(simulate(program));
      const emits = [...operationsOf(program)].filter((one) => one.do === "emit").length;
      expect(whole.store.state.events.length).toBe(emits);
      for (const prefix of whole.store.history) {
        if (prefix.ending !== undefined) continue;
        const again = await runOut(program, prefix, seed + 1);
        expect(again.outcome).toBe("ended");
        expect(outputOf(again.store.state)).toEqual(simulate(program));
        expect(sorted(again.store.state.events)).toEqual(sorted(whole.store.state.events));
        const recorded = [...prefix.journal.values()].filter((row) => row.kind === "step" && row.state === "done");
        for (const row of recorded) expect(again.trace).not.toContain(`r/${row.path}`);
        const over = [...prefix.journal.values()].filter(
          (row) => ["all", "race"].includes(row.kind) && row.state === "done",
        );
        for (const row of over) expect(again.trace.filter((key) => key.startsWith(`r/${row.path}/`))).toEqual([]);
      }
    }),
    { numRuns: sweepSize({ usual: 30, full: 1000 }), examples: [[abortBeforeWait, 7]] },
  );
});
