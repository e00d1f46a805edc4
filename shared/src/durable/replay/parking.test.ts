import { expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { WaitAnswer, WaitRequest } from "./run-store.ts";

/** A store that takes its time to park a run. */
class SlowParking extends MemoryRunStore {
  readonly asked = Promise.withResolvers<void>();
  readonly gate = Promise.withResolvers<void>();

  override async wait(request: WaitRequest): Promise<WaitAnswer> {
    this.asked.resolve();
    if (request.park !== undefined) await this.gate.promise;
    return super.wait(request);
  }
}

test("what a body does by itself while its run is being parked, and after that, neither begins nor is told", async () => {
  const store = new SlowParking(emptyState());
  const did: string[] = [];
  const parked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const note = (run: Run, name: string) => void run.step(name, async () => did.push(name), { effect: "pure" });
  const execution = await executionOn(store, async (run) => {
    void run.signal("go");
    await store.asked.promise;
    note(run, "while");
    await parked.promise;
    run.emit({ type: "told" });
    note(run, "after");
    over.resolve();
    return "done";
  });
  await store.asked.promise;
  await turns();
  store.gate.resolve();
  expect(await execution.done).toBe("parked");
  parked.resolve();
  await over.promise;
  await turns();
  expect([did, store.state.events, store.state.ending]).toEqual([[], [], undefined]);
});

test("a body that returns while its run is being parked has not ended it", async () => {
  const store = new SlowParking(emptyState());
  const execution = await executionOn(store, async (run) => {
    void run.signal("go");
    await store.asked.promise;
    return "done";
  });
  await store.asked.promise;
  await turns();
  store.gate.resolve();
  expect([await execution.done, store.state.ending]).toEqual(["parked", undefined]);
});
