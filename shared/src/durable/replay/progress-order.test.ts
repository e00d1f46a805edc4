import { expect, test } from "bun:test";
import type { RunEvent, StepContext } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import { ProgressOrder } from "./progress-order.ts";
import type { JournalRow } from "./run-store.ts";

/** What is shown, and how often the commits were hurried. */
function ordered() {
  const shown: unknown[] = [];
  let hurried = 0;
  const order = new ProgressOrder(
    ({ n }) => void shown.push(n),
    () => void hurried++,
  );
  const show = (n: number, isCurrent = () => true) => order.show({ type: "delta", n }, isCurrent);
  return { order, show, shown, hurried: () => hurried };
}

test("progress is shown at once, or hurries the events before it and comes after the last of them", async () => {
  const { order, show, shown, hurried } = ordered();
  show(1);
  expect([shown, hurried()]).toEqual([[1], 0]);
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  order.after(one.promise);
  order.after(other.promise);
  show(2);
  one.resolve();
  await Bun.sleep(0);
  expect([shown, hurried()]).toEqual([[1], 1]);
  other.reject(new Error("not ours any more"));
  await Bun.sleep(0);
  show(3);
  expect([shown, hurried()]).toEqual([[1, 2, 3], 1]);
});

test("what is out of date when its turn comes is not shown, nor more than a thousand items that wait", async () => {
  const { order, show, shown } = ordered();
  const commit = Promise.withResolvers<void>();
  order.after(commit.promise);
  let isCurrent = true;
  show(0, () => isCurrent);
  for (let n = 1; n < 1_002; n++) show(n);
  isCurrent = false;
  commit.resolve();
  await Bun.sleep(0);
  expect(shown).toEqual(Array.from({ length: 999 }, (_, index) => index + 1));
});

test("what a step shows comes behind the events before it, whoever told them, and nothing is shown of a run that is another's", async () => {
  const seen: string[] = [];
  let hurried = 0;
  class Telling extends MemoryRunStore {
    override hurry(): void {
      hurried++;
    }

    override async record(row: JournalRow, events: readonly RunEvent[] = []): Promise<void> {
      await turns(3);
      await super.record(row, events);
      seen.push(...events.map(({ type }) => type));
    }
  }
  const held = Promise.withResolvers<StepContext>();
  const execution = await executionOn(
    new Telling(emptyState()),
    async (run) => {
      await run.step("one", async ({ emit }) => void emit({ type: "by a step" }), { effect: "pure" });
      await run.step("two", async ({ progress }) => void progress({ type: "shown" }), { effect: "pure" });
      await turns();
      run.emit({ type: "by the body" });
      return run.step(
        "three",
        (step) => {
          step.progress({ type: "shown again" });
          held.resolve(step);
          return new Promise<null>(() => undefined);
        },
        { effect: "pure" },
      );
    },
    { progress: ({ type }) => void seen.push(type) },
  );
  const step = await held.promise;
  await turns();
  // Progress is shown in the step or not at all.
  expect(seen).toEqual(["by a step", "by the body", "shown again"]);
  // Somebody is watching.
  expect(hurried).toBe(2);
  execution.lose();
  step.progress({ type: "late" });
  expect(seen).toHaveLength(3);
});
