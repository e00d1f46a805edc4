import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { isShutdown } from "../../core/runs/shutdown.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { Execution } from "./execution.ts";
import { LeaseLost } from "./run-store.ts";

/**
 * A body in a step that ends when it is aborted, and then returns as if nothing had been; the step
 * is the run's own or one of a branch in a branch.
 */
function working(isInBranches: boolean) {
  const begun = Promise.withResolvers<void>();
  const reason = Promise.withResolvers<unknown>();
  const execute = async (run: Run) => {
    const step = ({ signal }: { signal: AbortSignal }) =>
      new Promise<null>((_, reject) => {
        signal.addEventListener("abort", () => {
          reason.resolve(signal.reason);
          reject(signal.reason);
        });
        begun.resolve();
      });
    const work = (own: Run) => own.step("work", step);
    const all = isInBranches ? run.all([(own) => own.race([work]), (own) => own.signal("go")]) : work(run);
    await all.catch(() => undefined);
    return "done";
  };
  return { begun: begun.promise, reason: reason.promise, execute };
}

test.each<readonly [string, (execution: Execution) => unknown, string, string | undefined, boolean]>([
  ["canceled", (one) => one.cancel(), "ended", "canceled", false],
  ["lost", (one) => one.lose(), "lost", undefined, false],
  ["abandoned", (one) => one.abandon(), "released", undefined, true],
  ["paused", (one) => one.pause(new Error("It cannot go on.")), "paused", undefined, false],
])(
  "a run that is %s stops its steps, says why, and what its body then returns does not count",
  async (_, leave, how, status, shutdown) => {
    for (const isInBranches of [false, true]) {
      const { begun, reason, execute } = working(isInBranches);
      const store = new MemoryRunStore(emptyState());
      const execution = await executionOn(store, execute);
      await begun;
      leave(execution);
      const why = await Promise.race([reason, Bun.sleep(2_000)]);
      expect([isShutdown(why), (why as DOMException | undefined)?.name]).toEqual([shutdown, "AbortError"]);
      expect(await execution.done).toBe(how as never);
      expect(store.state.ending?.status).toBe(status as never);
      expect(store.state.paused !== undefined).toBe(how === "paused");
    }
  },
);

test.each(["record", "end"] as const)(
  "a write that is refused because the engine is closed, or the run another's, leaves it to others; any other pauses it: %s",
  async (what) => {
    const reasons = [new AppError("unavailable", "This engine is closed."), new LeaseLost(), new TypeError("bad")];
    const outcomes = reasons.map(async (error) => {
      const store = new MemoryRunStore(emptyState());
      store[what] = () => Promise.reject(error);
      const errors: unknown[] = [];
      const log = { ...silentLog, error: (about: { err?: unknown }) => void errors.push(about.err) };
      const body = (run: Run) => run.step("s", async () => 1, { effect: "once" });
      const outcome = await (await executionOn(store, body, { log })).done;
      const { code, message = "" } = store.state.paused ?? {};
      return [outcome, code, errors.includes(error), message.includes("bad")];
    });
    // What is wrong is for the log, and not for the run's readers.
    expect(await Promise.all(outcomes)).toEqual([
      ["lost", undefined, what === "end", false],
      ["lost", undefined, false, false],
      ["paused", "internal", true, false],
    ]);
  },
);

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

test("a run that is handed back finishes the step it is in, and begins no other", async () => {
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, async (run) => {
    for (const name of ["one", "two"])
      await run.step(name, async () => {
        begun.push(name);
        await gate.promise;
        return null;
      });
  });
  while (begun.length === 0) await Bun.sleep(0);
  execution.drain();
  let outcome: string = "at work";
  void execution.done.then((how) => {
    outcome = how;
  });
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(outcome).toBe("at work");
  gate.resolve();
  expect([await execution.done, begun]).toEqual(["released", ["one"]]);
  expect(store.state.journal.get("0")?.state).toBe("done");
});

test.each([Number.POSITIVE_INFINITY, Number.NaN, -1])("a sleep of %p ms is refused in the body", async (ms) => {
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, (run) => run.sleep(ms).catch((error) => error.name));
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: "RangeError" }]);
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
