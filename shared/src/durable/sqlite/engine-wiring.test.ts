import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c" };
const ignored = { stopMs: 10 };

/** A body that is held in a step, and how many have begun. */
function held() {
  const state = { begun: 0 };
  const gate = Promise.withResolvers<null>();
  const execute = async (run: Run) => {
    await run.step("wait", () => {
      state.begun++;
      return gate.promise;
    });
    return run.step("next", async () => null);
  };
  return { state, gate, execute };
}

test("sixty-four runs are executed at once, and kinds with places of their own beside them", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:", ...ignored });
  const [shared, own] = [held(), held()];
  engine.work([{ kind: "k", execute: shared.execute }]);
  engine.work([{ kind: "own", execute: own.execute }], { concurrency: 2, dedicatedPool: true });
  for (let n = 0; n < 66; n++) await engine.start(request);
  for (let n = 0; n < 3; n++) await engine.start({ ...request, kind: "own" });
  await until(() => shared.state.begun >= 64 && own.state.begun >= 2);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([shared.state.begun, own.state.begun]).toEqual([64, 2]);
  await engine.close({ graceMs: 0 });
});

test("an engine that is closed waits for the step it is in, and with no grace for none", async () => {
  for (const [options, kept] of [
    [undefined, "done"],
    [{ graceMs: 0 }, undefined],
  ] as const) {
    using store = scratch();
    const engine = createEmbeddedEngine({ path: store.path, ...ignored });
    const { state, gate, execute } = held();
    engine.work([{ kind: "k", execute }]);
    await engine.start(request);
    await until(() => state.begun === 1);
    const closing = engine.close(options);
    setTimeout(() => gate.resolve(null), 60);
    await closing;
    using db = new Database(store.path);
    const states = db.query<{ state: string }, []>("SELECT state FROM journal WHERE name = 'wait'").all();
    expect(states.map((row) => row.state)).toEqual(kept === undefined ? [] : [kept]);
    expect(db.query("SELECT status, owner FROM runs").all()).toEqual([{ status: "queued", owner: null }]);
  }
});

test("others see twenty times in a lease of fifteen seconds who is there, and nothing is looked at after the end", async () => {
  const [timers, every, cleared] = [
    spyOn(globalThis, "setTimeout"),
    spyOn(globalThis, "setInterval"),
    spyOn(globalThis, "clearInterval"),
  ];
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const { run } = await engine.start({ ...request, kind: "other", events: [{ type: "told" }, { type: "told" }] });
  // A reader that stalls, and that nobody ends.
  const reader = engine.follow(run.id, { signal: new AbortController().signal })[Symbol.asyncIterator]();
  await reader.next();
  engine.work([{ kind: "k", execute: async () => null }]);
  await until(() => timers.mock.calls.some(([, ms]) => ms === 750));
  expect(every.mock.calls.map(([, ms]) => ms)).toEqual([50]);
  await engine.close({ graceMs: 0 });
  const ended: unknown[] = cleared.mock.calls.map(([timer]) => timer);
  const begun = every.mock.results.map(({ value }) => value);
  for (const spy of [timers, every, cleared]) spy.mockRestore();
  for (const timer of begun) expect(ended.includes(timer)).toBe(true);
});

test("a step may take five seconds to stop, or as long as it is said", async () => {
  for (const [options, most] of [
    [{}, 5_000],
    [{ stopMs: 700 }, 700],
  ] as const) {
    const engine = createEmbeddedEngine({ path: ":memory:", ...options });
    const begun = Promise.withResolvers<void>();
    const step = ({ signal }: { readonly signal: AbortSignal }) => {
      begun.resolve();
      return new Promise<null>((_, reject) => signal.addEventListener("abort", reject));
    };
    engine.work([{ kind: "k", execute: (run) => run.step("wait", step) }]);
    const { run } = await engine.start(request);
    await begun.promise;
    const timers = spyOn(globalThis, "setTimeout");
    await engine.cancel(run.id);
    const delays = timers.mock.calls.map(([, ms]) => ms);
    timers.mockRestore();
    // Then the step is given up, and a moment later the body.
    expect(delays).toEqual(expect.arrayContaining([most, most + 100]));
    await engine.close();
  }
});

test("once the store works again, what others did meanwhile is looked for", async () => {
  using store = scratch();
  let failures = 0;
  const syncFile = async () => {
    if (failures-- > 0) throw new Error("EIO");
  };
  const never = 3_600_000;
  const engine = createEmbeddedEngine({ path: store.path, pollMs: never, leaseMs: never, syncFile });
  const other = createEmbeddedEngine({ path: store.path });
  engine.work([{ kind: "k", execute: async () => null }]);
  const isOver = async (id: string) => (await other.get(id))?.status === "completed";
  const first = (await engine.start(request)).run;
  await until(() => isOver(first.id));
  const { run } = await other.start(request);
  failures = 1;
  await engine.spend("p", { tokens: 1, usd: 0 });
  await until(() => isOver(run.id), 10_000);
  for (const one of [engine, other]) await one.close();
});
