import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";

test("a step reads the runs' clock, and its failure keeps its cause for who asked for it", async () => {
  const cause = new AppError("task_failed", "No.", { cause: "why" });
  const seen: unknown[] = [];
  const store = new MemoryRunStore(emptyState());
  const body = async (run: Run) => {
    seen.push(await run.step("now", async ({ now }) => now()));
    await run.step("fail", () => Promise.reject(cause)).catch((error) => seen.push(error.cause === cause));
  };
  await (await executionOn(store, body, { clock: () => 12_345 })).done;
  expect(seen).toEqual([12_345, true]);
});

test("a step that had begun when its process stopped is not begun again, and what became of it is recorded", async () => {
  const store = new MemoryRunStore(emptyState());
  store.state.journal.set("0", { path: "0", kind: "step", name: "pay", state: "started" });
  let paid = 0;
  const body = (run: Run) => run.step("pay", async () => ++paid, { effect: "once" }).catch(({ code }) => code);
  const execution = await executionOn(store, body);
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: "interrupted" }]);
  expect([paid, store.state.journal.get("0")]).toEqual([
    0,
    expect.objectContaining({ state: "done", error: expect.objectContaining({ code: "interrupted" }) }),
  ]);
});
