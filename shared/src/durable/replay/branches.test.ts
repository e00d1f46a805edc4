import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { JournalRow } from "./run-store.ts";

const no = { code: "task_failed", message: "No." } as const;
const step = (path: string, over: Partial<JournalRow> = {}): JournalRow => ({
  ...{ path, kind: "step", name: "s", state: "done", out: "1" },
  ...over,
});
const group = (path: string, kind: "all" | "race", over: Partial<JournalRow> = {}): JournalRow => ({
  ...{ path, kind, name: "2", state: "started" },
  ...over,
});

/** A store with this journal, and what a body that is executed on it does. */
async function replay(rows: readonly JournalRow[], execute: (run: Run) => Promise<unknown>) {
  const store = new MemoryRunStore(emptyState());
  for (const row of rows) store.state.journal.set(row.path, row);
  const execution = await executionOn(store, execute);
  const outcome = await execution.done;
  return { outcome, ...store.state };
}

const work = (run: Run) => run.step("s", async () => 1);

test.each(["all", "race"] as const)(
  "in a branch of a race that is over, what an unfinished %s would come to is neither recorded nor told",
  async (kind) => {
    const inner = { ...step("0/0/0/0/0"), ...(kind === "all" && { error: no }) };
    const rows = [group("0", "race", { state: "done", out: "1" }), group("0/0/0", kind), inner, step("0/1/0")];
    const reached: string[] = [];
    const { outcome, journal, events } = await replay(rows, async (run) =>
      run.race<unknown>([
        async (own) => {
          own.emit({ type: "told" });
          await own[kind]<unknown>([work, async () => null]).catch(() => undefined);
          if (!own.abortSignal.aborted) reached.push("behind it");
        },
        async (own) => {
          // The other has gone as far as it can by then.
          for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
          return work(own);
        },
      ]),
    );
    expect([outcome, events, reached]).toEqual(["ended", [], []]);
    expect(journal.get("0/0/0")?.state).toBe("started");
  },
);

test.each(["all", "race"] as const)(
  "what the losers of an %s had done before they were told is not missed when they stop earlier in the replay",
  async (kind) => {
    const decided = kind === "all" ? { out: "0", error: no } : { out: "0" };
    const rows = [
      group("0", kind, { state: "done", ...decided }),
      kind === "all" ? step("0/0/0", { error: no }) : step("0/0/0"),
      ...["0/1/0", "0/1/1", "0/1/2"].map((path) => step(path)),
    ];
    const { outcome, paused } = await replay(rows, async (run) => {
      const until = async (own: Run) => {
        for (let steps = 0; steps < 3; steps++) {
          await new Promise((resolve) => setImmediate(resolve));
          if (!own.abortSignal.aborted) await work(own);
        }
        return null;
      };
      return run[kind]<unknown>([work, until]).catch(({ code }) => code);
    });
    expect([outcome, paused]).toEqual(["ended", undefined]);
  },
);

test.each(["all", "race"] as const)(
  "an %s is recorded as it begins, so that code with other branches does not go on from there",
  async (kind) => {
    const store = new MemoryRunStore(emptyState());
    const waiting = (branches: number) => (run: Run) =>
      run[kind]<unknown>(Array.from({ length: branches }, (_, n) => (own: Run) => own.signal(`s${n}`)));
    expect(await (await executionOn(store, waiting(2))).done).toBe("parked");
    const again = new MemoryRunStore(store.state);
    expect([await (await executionOn(again, waiting(3))).done, again.state.paused?.code]).toEqual([
      "paused",
      "non_deterministic",
    ]);
  },
);

test("a poll of a branch that has lost meanwhile takes no signal from those who come after it", async () => {
  const looked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  class SlowLooks extends MemoryRunStore {
    looks = 0;

    override async hasSignal(name: string): Promise<boolean> {
      if (this.looks++ > 0) return super.hasSignal(name);
      looked.resolve();
      await gate.promise;
      return super.hasSignal(name);
    }
  }
  const store = new SlowLooks(emptyState());
  store.state.signals.push({ name: "go", payload: '"went"' });
  const execution = await executionOn(store, async (run) => {
    await run.race<unknown>([
      (own) => own.poll("go"),
      (own) => own.step("win", () => looked.promise.then(() => null), { effect: "pure" }),
    ]);
    gate.resolve();
    await turns();
    return run.poll("go");
  });
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: ["went"] }]);
});

test.each(["all", "race"] as const)(
  "nothing with effects begins before it is stored how an %s was decided",
  async (kind) => {
    class SlowDecisions extends MemoryRunStore {
      override async record(row: JournalRow, events?: readonly RunEvent[]): Promise<void> {
        if (row.kind === kind && row.state === "done") await turns();
        await super.record(row, events);
      }
    }
    const store = new SlowDecisions(emptyState());
    const execution = await executionOn(store, async (run) => {
      await run[kind]<unknown>([() => Promise.reject(new Error("No.")), (own) => own.signal("never")]).catch(
        () => null,
      );
      return run.step("act", async () => store.state.journal.get("0")?.state ?? "nowhere");
    });
    expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: "done" }]);
  },
);

test("a step that ignores that its branch has lost is given up after as long as the run's engine says", async () => {
  const timers = spyOn(globalThis, "setTimeout");
  const execution = await executionOn(
    new MemoryRunStore(emptyState()),
    (run) =>
      run.all<unknown>([
        (own) => own.step("deaf", () => new Promise<null>(() => undefined)),
        (own) => own.step("fail", () => Promise.reject(new Error("No."))),
      ]),
    { stopMs: 7 },
  );
  const outcome = await execution.done;
  const delays = timers.mock.calls.map(([, ms]) => ms);
  timers.mockRestore();
  expect([outcome, delays]).toEqual(["ended", [7]]);
});

test("a branch that has lost begins nothing more, in branches of its own neither, though they had begun before", async () => {
  const store = new MemoryRunStore(emptyState());
  for (const [path, kind] of [
    ["0", "race"],
    ["0/0/0", "all"],
  ] as const)
    store.state.journal.set(path, { path, kind, name: kind === "race" ? "2" : "1", state: "started" });
  const did: string[] = [];
  const execution = await executionOn(store, async (run) => {
    const winner = await run.race<unknown>([
      async (own) => {
        await new Promise((resolve) => own.abortSignal.addEventListener("abort", resolve));
        return own.all([(below) => below.step("late", async () => did.push("late"))]);
      },
      (own) => own.step("win", async () => "won"),
    ]);
    await turns();
    return winner;
  });
  expect([await execution.done, did, store.state.ending]).toEqual([
    "ended",
    [],
    { status: "completed", output: "won" },
  ]);
});

test("the branch that won a race is not told to stop when it is executed again", async () => {
  const store = new MemoryRunStore(emptyState());
  const rows: JournalRow[] = [
    { path: "0", kind: "race", name: "2", state: "done", out: "1" },
    { path: "0/1/0", kind: "step", name: "win", state: "done", out: '"won"' },
  ];
  for (const row of rows) store.state.journal.set(row.path, row);
  const execution = await executionOn(store, (run) =>
    run.race<unknown>([
      (own) => own.signal("never"),
      async (own) => {
        const won = await own.step("win", async () => "again");
        await turns();
        return own.abortSignal.aborted ? "stopped" : won;
      },
    ]),
  );
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: "won" }]);
});

test("of branches that fail together the first one decides, now and when they are executed again", async () => {
  const body = (run: Run) => {
    const fail = (why: string) => () => Promise.reject(new AppError("task_failed", why));
    return run.all([fail("first"), fail("second")]).catch(({ message }) => message);
  };
  const store = new MemoryRunStore(emptyState());
  await (await executionOn(store, body)).done;
  const again = new MemoryRunStore(emptyState());
  for (const row of store.state.journal.values()) again.state.journal.set(row.path, row);
  await (await executionOn(again, body)).done;
  const output = { status: "completed", output: "first" } as const;
  expect([store.state.ending, again.state.ending]).toEqual([output, output]);
});
