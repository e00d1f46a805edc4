import { expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import { currentTrace, spanId } from "../../core/trace.ts";
import { turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import { Execution } from "./execution.ts";
import { Journal } from "./journal.ts";

/** An execution that begins while its run is being stored, which is over when the test says so. */
function beginning(body: (run: Run) => Promise<unknown>, input: Json = null) {
  const stored = Promise.withResolvers<boolean>();
  const shown: string[] = [];
  const store = new MemoryRunStore(emptyState());
  const execution = new Execution(Journal.empty(), {
    ...{ runId: "r", principal: "p", contextId: "c", store, log: silentLog, clock: () => 0, stopMs: 100 },
    progress: ({ type }) => void shown.push(type),
  });
  execution.waitFor(stored.promise);
  execution.start({ execute: async (run) => (await body(run)) as never }, input);
  return { execution, stored, shown };
}

test("while a run is being stored nothing with effects begins, and what is shown waits for those who are told of it", async () => {
  const did: string[] = [];
  const { execution, stored, shown } = beginning(async (run) => {
    const show = async ({ progress }: StepContext) => {
      progress({ type: "shown" });
      await stored.promise;
      await turns(3);
      return null;
    };
    void run.step("show", show, { effect: "pure" });
    await run.step("act", async () => did.push("act"));
  });
  await turns();
  expect([did, shown]).toEqual([[], []]);
  let toldTurn: readonly string[] = ["never"];
  // So whoever had it started hears of it.
  void stored.promise.then(async () => {
    for (let n = 0; n < 9; n++) await undefined;
    toldTurn = [...shown];
  });
  stored.resolve(true);
  await turns();
  expect(await execution.done).toBe("ended");
  expect([did, toldTurn, shown]).toEqual([["act"], [], ["shown"]]);
});

test("a body and its steps belong to the trace of who had their run started, below the run's own span", async () => {
  const of = (span: string) => ({ traceparent: `00-${"1".repeat(32)}-${span}-01` });
  const seen: unknown[] = [];
  const body = async (run: Run) => {
    seen.push(currentTrace());
    await run.step("s", async () => void seen.push(currentTrace()));
  };
  const { execution, stored } = beginning(body, { trace: of("2".repeat(16)) });
  stored.resolve(true);
  await execution.done;
  expect(seen).toEqual([of(spanId("r")), of(spanId("r"))]);
});

test("a run that turns out to be another's, as it is stored, is left, whatever its body waits for", async () => {
  const { execution, stored } = beginning(() => new Promise(() => undefined));
  stored.resolve(false);
  expect(await execution.done).toBe("lost");
});
