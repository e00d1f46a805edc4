import { expect, jest, spyOn, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { executionOn, turns } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { WaitAnswer, WaitRequest } from "./run-store.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test.each<readonly [string, (run: Run) => Promise<unknown>, string]>([
  ["sleeps for a second", (run) => run.sleep(1_000), "stays"],
  ["sleeps for longer", (run) => run.sleep(1_500), "parks until 1500"],
  ["sleeps for a part of a millisecond more", (run) => run.sleep(1_500.25), "parks until 1501"],
  ["waits for a signal", (run) => run.signal("go"), "parks for go"],
  ["waits for a signal, for less than a second", waitFor("go", 400), "parks for go until 400"],
  ["waits for a signal, whose time is over", waitFor("go", 0), "ends"],
  ["sleeps until it is woken", (run) => run.sleep(9_000, { until: new AbortController().signal }), "stays"],
  [
    "sleeps, in two branches",
    (run) => run.all([(own) => own.sleep(8_000), (own) => own.sleep(9_000)]),
    "parks until 8000",
  ],
  [
    "waits for a signal, though a branch that lost a race never ends",
    (run) => run.race([() => new Promise(() => undefined), async () => null]).then(() => run.signal("go")),
    "parks for go",
  ],
])("a run that %s parks, or stays in memory", async (_, execute, expected) => {
  jest.useFakeTimers();
  try {
    const store = new MemoryRunStore(emptyState());
    const execution = await executionOn(store, execute);
    let outcome: string = "stays";
    void execution.done.then((how) => {
      outcome = how === "ended" ? "ends" : how;
    });
    for (let turns = 0; turns < 20; turns++) await turn();
    if (outcome === "parked") {
      const { signals, wakeAt } = store.state.parking ?? { signals: [] };
      const words = ["parks", ...signals.map((name) => `for ${name}`), wakeAt === undefined ? "" : `until ${wakeAt}`];
      outcome = words.filter(Boolean).join(" ");
    }
    expect(outcome).toBe(expected);
    execution.lose();
  } finally {
    jest.useRealTimers();
  }
});

/** Waits for a signal, but only so long. */
function waitFor(name: string, ms: number): (run: Run) => Promise<unknown> {
  return (run) => run.race<unknown>([(own) => own.signal(name), (own) => own.sleep(ms)]);
}

test("a sleep beside a step is looked after by timers that can be as long, however long it is", async () => {
  const timers = spyOn(globalThis, "setTimeout");
  const days = 86_400_000;
  const execution = await executionOn(new MemoryRunStore(emptyState()), (run) =>
    run.all<unknown>([
      (own) => own.sleep(60 * days),
      (own) => own.step("work", () => new Promise<null>(() => undefined)),
    ]),
  );
  for (let turns = 0; turns < 20; turns++) await turn();
  const delays = timers.mock.calls.map(([, ms]) => ms ?? 0);
  const [timer] = timers.mock.results.map(({ value }) => value);
  timers.mockRestore();
  expect(delays).toEqual([2 ** 31 - 1]);
  const cleared = spyOn(globalThis, "clearTimeout");
  execution.lose();
  // It would keep its process from ending.
  const ended = cleared.mock.calls.some(([one]) => (one as unknown) === timer);
  cleared.mockRestore();
  expect(ended).toBe(true);
});

test("a sleep that is over no longer listens to what could have woken it", async () => {
  const until = new AbortController().signal;
  const heard = [spyOn(until, "addEventListener"), spyOn(until, "removeEventListener")];
  const execution = await executionOn(new MemoryRunStore(emptyState()), (run) => run.sleep(1, { until }));
  expect(await execution.done).toBe("ended");
  expect(heard.map(({ mock }) => mock.calls.map(([name]) => name))).toEqual([["abort"], ["abort"]]);
});

test("a run of which the store says, as it is to wait, that it was canceled ends so", async () => {
  class Canceled extends MemoryRunStore {
    override wait(_: WaitRequest): Promise<WaitAnswer> {
      return Promise.resolve({ parked: false, canceled: true });
    }
  }
  const store = new Canceled(emptyState());
  const execution = await executionOn(store, (run) => run.signal("go"));
  expect(await execution.done).toBe("ended");
  expect(store.state.ending).toEqual({ status: "canceled" });
});

test("a poll whose store cannot say what is there takes what there is", async () => {
  class Silent extends MemoryRunStore {
    override hasSignal(): Promise<boolean> {
      return Promise.reject(new Error("away"));
    }
  }
  const store = new Silent(emptyState());
  store.state.signals.push({ name: "go", payload: "7" });
  const execution = await executionOn(store, (run) => run.poll("go"));
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: [7] }]);
});

test("a signal that arrives while a branch that was told to stop cleans up is left for those who come after it", async () => {
  const store = new MemoryRunStore(emptyState());
  const stopping = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const execution = await executionOn(store, async (run) => {
    const cleansUp = async (own: Run) => {
      await own.signal("go").catch(() => stopping.resolve());
      await stopped.promise;
    };
    const fails = async (own: Run) => {
      await own.step("wait", turn as () => Promise<null>, { effect: "pure" });
      throw new Error("No.");
    };
    await run.all<unknown>([cleansUp, fails]).catch(() => undefined);
    return run.poll("go");
  });
  await stopping.promise;
  store.state.signals.push({ name: "go", payload: "7" });
  execution.nudge();
  for (let turns = 0; turns < 20; turns++) await turn();
  stopped.resolve();
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: [7] }]);
});

test("signals that came together each reach their branch beside one that works on, and one of a name whoever waited first", async () => {
  const store = new MemoryRunStore(emptyState());
  for (const [name, payload] of [
    ["n", "1"],
    ["n", "2"],
    ["m", "3"],
  ] as const)
    store.state.signals.push({ name, payload });
  const heard: unknown[] = [];
  const execution = await executionOn(store, async (run) => {
    const enough = Promise.withResolvers<null>();
    const hear = async (own: Run, who: string, name: string) => {
      heard.push(`${who} ${await own.signal(name)}`);
      if (heard.length === 3) enough.resolve(null);
    };
    const first = hear(run, "body", "n");
    await run.all<unknown>([
      (own) => hear(own, "branch", "n"),
      (own) => hear(own, "branch", "m"),
      (own) => own.step("work", () => enough.promise, { effect: "pure" }),
    ]);
    await first;
  });
  for (let turns = 0; turns < 100 && heard.length < 3; turns++) await turn();
  expect(heard.toSorted()).toEqual(["body 1", "branch 2", "branch 3"]);
  expect(await execution.done).toBe("ended");
});

test("a sleep that is over is recorded, so that a replay does not sleep again", async () => {
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, async (run) => {
    await run.sleep(1);
    await run.signal("go");
  });
  expect([await execution.done, store.state.journal.get("0")?.state]).toEqual(["parked", "done"]);
});

test("a sleep that had begun goes on until the time that was stored, whatever is asked for now", async () => {
  const store = new MemoryRunStore(emptyState());
  store.state.journal.set("0", { path: "0", kind: "sleep", name: "", state: "started", out: "50000" });
  const execution = await executionOn(store, (run) => run.sleep(9_000), { clock: () => 40_000 });
  expect([await execution.done, store.state.parking?.wakeAt]).toEqual(["parked", 50_000]);
});

const stepAtWork = (run: Run) => run.step("work", () => new Promise<null>(() => undefined));

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

test.each([Number.POSITIVE_INFINITY, Number.NaN, -1])("a sleep of %p ms is refused in the body", async (ms) => {
  const store = new MemoryRunStore(emptyState());
  const execution = await executionOn(store, (run) => run.sleep(ms).catch((error) => error.name));
  expect([await execution.done, store.state.ending]).toEqual(["ended", { status: "completed", output: "RangeError" }]);
});
