import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { Run, RunEvent, StepContext } from "../../core/runs/run.ts";
import { currentTrace, spanId } from "../../core/trace.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import { Execution } from "./execution.ts";
import { Journal } from "./journal.ts";
import { type JournalRow, StoreUnavailable, type WaitAnswer, type WaitRequest } from "./run-store.ts";

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

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

test("a run that the store says is canceled, as a step is to begin, ends so without it", async () => {
  class Canceled extends MemoryRunStore {
    override standing() {
      return Promise.resolve("canceled" as "held");
    }
  }
  const store = new Canceled(emptyState());
  let did = 0;
  const execution = await executionOn(store, (run) => run.step("act", async () => ++did));
  expect([await execution.done, store.state.ending, did]).toEqual(["ended", { status: "canceled" }, 0]);
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

test("a sleep that is over is recorded, so that a replay does not sleep again", async () => {
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, async (run) => {
    await run.sleep(1);
    await run.signal("go");
  });
  expect([await execution.done, store.state.journal.get("0")?.state]).toEqual(["parked", "done"]);
});

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

test("a step that finds the store away is tried again for a minute, and then that is its failure", async () => {
  for (const [awayMs, tried] of [
    [59_000, 2],
    [60_001, 1],
  ] as const) {
    let now = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => now);
    const sleep = spyOn(Bun, "sleep").mockResolvedValue(undefined);
    let tries = 0;
    const store = new MemoryRunStore(emptyState());
    const execution = await executionOn(store, (run) =>
      run
        .step(
          "ask",
          async () => {
            if (++tries > 1) return "answer";
            now += awayMs;
            throw new StoreUnavailable("it was restarted");
          },
          { effect: "pure" },
        )
        .catch(({ code }) => code),
    );
    const outcome = await execution.done;
    clock.mockRestore();
    // Not all the time: others want the store back too.
    const pauses = sleep.mock.calls.map(([ms]) => ms);
    sleep.mockRestore();
    expect(pauses).toEqual(tried === 2 ? [100] : []);
    const output = tried === 2 ? "answer" : "storage_unavailable";
    expect([outcome, tries, store.state.ending]).toEqual(["ended", tried, { status: "completed", output }]);
  }
});

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

const stepAtWork = (run: Run) => run.step("work", () => new Promise<null>(() => undefined));

test("a sleep that had begun goes on until the time that was stored, whatever is asked for now", async () => {
  const store = new MemoryRunStore(emptyState());
  store.state.journal.set("0", { path: "0", kind: "sleep", name: "", state: "started", out: "50000" });
  const execution = await executionOn(store, (run) => run.sleep(9_000), { clock: () => 40_000 });
  expect([await execution.done, store.state.parking?.wakeAt]).toEqual(["parked", 50_000]);
});

test("until when a run sleeps is stored as it begins to, also while it works beside that", async () => {
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, (run) => run.all<unknown>([(own) => own.sleep(60_000), stepAtWork]));
  await turns();
  expect(store.state.journal.get("0/0/0")).toMatchObject({ kind: "sleep", state: "started", out: "60000" });
  execution.lose();
});

test("a wait that was stored before is told of no second time, and is shown with its reason", async () => {
  const store = new MemoryRunStore(emptyState());
  store.state.journal.set("0", { path: "0", kind: "signal", name: "go", state: "started" });
  const seen: string[] = [];
  const execution = await executionOn(store, (run) => {
    seen.push(run.id, run.principal, run.contextId);
    return run.signal("go", { reason: "input-required", events: [{ type: "asked" }] });
  });
  expect([await execution.done, store.state.events]).toEqual(["parked", []]);
  expect(store.state.parking?.shown).toEqual({ signal: "go", reason: "input-required" });
  expect(seen).toEqual(["r", "p", "c"]);
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
