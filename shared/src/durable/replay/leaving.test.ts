import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { isShutdown } from "../../core/runs/shutdown.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { Execution } from "./execution.ts";
import { type JournalRow, LeaseLost } from "./run-store.ts";

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
  await turns();
  expect(outcome).toBe("at work");
  gate.resolve();
  expect([await execution.done, begun]).toEqual(["released", ["one"]]);
  expect(store.state.journal.get("0")?.state).toBe("done");
});

test("a run that the store says is canceled, as a step is to begin, ends so without it", async () => {
  class Canceled extends MemoryRunStore {
    override leaseState() {
      return Promise.resolve("canceled" as "held");
    }
  }
  const store = new Canceled(emptyState());
  let did = 0;
  const execution = await executionOn(store, (run) => run.step("act", async () => ++did));
  expect([await execution.done, store.state.ending, did]).toEqual(["ended", { status: "canceled" }, 0]);
});

test("a run is handed back although its storage hangs, after a step that stops has stopped", async () => {
  const did: string[] = [];
  class Hanging extends MemoryRunStore {
    override record(row: JournalRow, events?: readonly RunEvent[]): Promise<void> {
      return row.name === "hangs" ? new Promise(() => undefined) : super.record(row, events);
    }

    override async release(): Promise<void> {
      did.push("released");
    }
  }
  const abandoned = async (body: (run: Run) => Promise<unknown>, begun: Promise<unknown>, stopMs: number) => {
    const execution = await executionOn(new Hanging(emptyState()), body, { stopMs });
    await begun;
    await execution.abandon();
    return [await execution.done, ...did.splice(0)];
  };
  const hangs = (run: Run) => run.step("hangs", async () => null, { effect: "once" });
  expect(await abandoned(hangs, turns(), 20)).toEqual(["released", "released"]);
  const begun = Promise.withResolvers<void>();
  const stops = (run: Run) =>
    run.step("stops", ({ signal }) => {
      begun.resolve();
      return new Promise<null>((_, reject) =>
        signal.addEventListener("abort", async () => {
          await turns();
          did.push("stopped");
          reject(signal.reason);
        }),
      );
    });
  expect(await abandoned(stops, begun.promise, 60_000)).toEqual(["released", "stopped", "released"]);
}, 20_000);
