import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";

test("a failure that the body never looks at, whatever the verb, ends neither the run nor the process", async () => {
  const unseen: unknown[] = [];
  const note = (error: unknown) => void unseen.push(error);
  process.on("unhandledRejection", note);
  const execution = await executionOn(new MemoryRunStore(emptyState()), async (run) => {
    const fail = () => Promise.reject(new Error("No."));
    void run.step("fail", fail);
    void run.sleep(-1);
    void run.signal("go", { events: [{ type: "run-ended" }] });
    void run.all([fail]);
    void run.race([]);
    void run.race([fail]);
    await run.race<unknown>([
      (own) =>
        new Promise((_, reject) => {
          own.abortSignal.addEventListener("abort", () => {
            for (const late of [own.poll("go"), own.sleep(1), own.signal("go")]) void late;
            reject(own.abortSignal.reason);
          });
        }),
      async () => null,
    ]);
    await turns();
    return "done";
  });
  expect(await execution.done).toBe("ended");
  await turns();
  process.off("unhandledRejection", note);
  expect(unseen).toEqual([]);
});

test("what fails unexpectedly is told to the log with its cause, in a step and in the body; what was foreseen is not", async () => {
  const told = async (body: (run: Run) => Promise<unknown>) => {
    const causes: unknown[] = [];
    const log = { ...silentLog, error: ({ err }: { err?: unknown }) => void causes.push(err) };
    await (await executionOn(new MemoryRunStore(emptyState()), body, { log })).done;
    return causes;
  };
  const bug = new TypeError("bug");
  const foreseen = new AppError("task_failed", "No.");
  const inStep = (error: Error) => (run: Run) => run.step("s", () => Promise.reject(error)).catch(() => null);
  const inBody = (error: Error) => () => Promise.reject(error);
  expect(await Promise.all([inStep(bug), inBody(bug), inStep(foreseen), inBody(foreseen)].map(told))).toEqual([
    ...[[bug], [bug], [], []],
  ]);
});
