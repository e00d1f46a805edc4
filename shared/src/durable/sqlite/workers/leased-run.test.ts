import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { silentLog } from "../../../core/runs/engine.ts";
import { scratch } from "../../../testing/durable/scratch.ts";
import { LeaseLost, type RunStore } from "../../replay/run-store.ts";
import { machineClock } from "../machine-clock.ts";
import { RunClock } from "../run-clock.ts";
import { Writer } from "../writer.ts";
import { leasedRun } from "./leased-run.ts";

test("a returned signal goes to the next one who asks; whoever returned it counts as unanswered, now and in replay", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using db = new Database(store.path);
  db.run(`INSERT INTO runs (id, kind, status, principal, context_id, input, owner, epoch, created_at, updated_at)
    VALUES ('r', 'k', 'running', 'p', 'c', 'null', 'own', 1, 0, 0)`);
  db.run("INSERT INTO signals (run, name, id, payload) VALUES (1, 'go', 'm1', '7')");
  const clock = new RunClock(machineClock(), silentLog);
  const run = leasedRun({ lease: { n: 1, owner: "own", epoch: 1 }, writer, clock, onEvents: () => undefined });
  const takenAt = (path: string) => run.wait({ begin: [], wanted: () => [{ path, name: "go" }] });
  expect(await takenAt("0/1/0")).toMatchObject({ taken: { path: "0/1/0", payload: "7" } });
  expect(await run.hasSignal("go")).toBe(false);
  await run.giveBack("0/1/0");
  expect(await run.hasSignal("go")).toBe(true);
  expect(await run.load()).toEqual([{ path: "0/1/0", kind: "signal", name: "go", state: "started" }]);
  expect(await takenAt("1")).toMatchObject({ taken: { path: "1", payload: "7" } });
  await writer.close(1000);
});

/** The store of one claim of a run, and what became of it; `seqs` are the events that were told. */
function claimed() {
  const store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  const db = new Database(store.path);
  db.run(`INSERT INTO runs (id, kind, status, principal, context_id, input, owner, epoch, created_at, updated_at)
    VALUES ('r', 'k', 'running', 'p', 'c', 'null', 'own', 1, 0, 0)`);
  const clock = new RunClock(machineClock(), silentLog);
  const seqs: number[] = [];
  const lease = { n: 1, owner: "own", epoch: 1 };
  return {
    run: leasedRun({ lease, writer, clock, onEvents: (seq) => void seqs.push(seq) }),
    seqs,
    cancel: () => void db.run("UPDATE runs SET cancel_requested = 1"),
    takeAway: () => void db.run("UPDATE runs SET epoch = 2"),
    signal: (payload: string) =>
      void db.run("INSERT INTO signals (run, name, id, payload) VALUES (1, 'go', ?, ?)", [payload, payload]),
    row: () => db.query<Record<string, unknown>, []>("SELECT status, owner, awaited FROM runs").get(),
    events: () =>
      db
        .query<{ event: string }, []>("SELECT event FROM events ORDER BY seq")
        .all()
        .map(({ event }) => JSON.parse(event).type),
    async [Symbol.asyncDispose]() {
      db.close();
      await writer.close(1_000);
      store[Symbol.dispose]();
    },
  };
}
const done = { path: "1", kind: "step", name: "s", state: "done" } as const;
const unwritable = { type: "told", amount: 1n as never };
const why = { code: "internal", message: "It cannot be stored." } as const;

test("who lost the run writes nothing of it any more, whatever it is", async () => {
  await using at = claimed();
  expect(await at.run.leaseState()).toBe("held");
  at.takeAway();
  expect(await at.run.leaseState()).toBe("lost");
  const writes = [
    () => at.run.record(done, [{ type: "told" }]),
    () => at.run.wait({ begin: [], wanted: () => [], park: { signals: [] } }),
    () => at.run.takeAll({ ...done, kind: "poll" }),
    () => at.run.giveBack("1"),
    () => at.run.end({ status: "completed", output: null }),
    () => at.run.pause(why),
    () => at.run.release(),
  ];
  for (const write of writes) await expect(write()).rejects.toBeInstanceOf(LeaseLost);
  expect([await at.run.load(), at.events(), at.row()?.status, at.seqs]).toEqual([[], [], "running", []]);
});

test("after a write that can never succeed nothing is written but the pause that says so", async () => {
  await using at = claimed();
  await at.run.record(done, [{ type: "first" }]);
  await expect(at.run.record({ ...done, path: "2" }, [unwritable])).rejects.toThrow(TypeError);
  await expect(at.run.record({ ...done, path: "3" }, [{ type: "later" }])).rejects.toThrow(TypeError);
  await expect(at.run.end({ status: "completed", output: null })).rejects.toThrow(TypeError);
  await at.run.pause(why);
  expect(at.events()).toEqual(["first", "run-paused"]);
  expect((await at.run.load()).map(({ path }) => path)).toEqual(["1"]);
  expect(at.row()?.status).toBe("paused");
  expect(at.seqs).toEqual([1, 2]);
});

test.each([
  ["end", (run: RunStore) => run.end({ status: "failed", error: why }), "failed"],
  ["pause", (run: RunStore) => run.pause(why), "paused"],
] as const)("the %s of a run that was canceled meanwhile is its cancellation", async (_, finish, otherwise) => {
  for (const [isCanceled, status] of [
    [false, otherwise],
    [true, "canceled"],
  ] as const) {
    await using at = claimed();
    if (isCanceled) at.cancel();
    expect(await at.run.leaseState()).toBe(isCanceled ? "canceled" : "held");
    await finish(at.run);
    expect(at.row()?.status).toBe(status);
    expect(at.events()).toEqual([status === "paused" ? "run-paused" : "run-ended"]);
  }
});

test("a wait begins with its events, takes one signal, and parks only if there is none and it may", async () => {
  await using at = claimed();
  const row = { path: "1", kind: "signal", name: "go", state: "started" } as const;
  const wanted = () => [
    { path: "0", name: "stop" },
    { path: "1", name: "go" },
  ];
  const begin = [
    { row, events: [{ type: "asked" }] },
    { row: { ...row, path: "2" }, events: [] },
  ];
  expect(await at.run.wait({ begin, wanted })).toEqual({ parked: false, canceled: false });
  expect([at.row()?.status, at.events(), at.seqs]).toEqual(["running", ["asked"], [1]]);
  at.signal("7");
  at.signal("8");
  const park = { signals: ["go"] };
  expect(await at.run.wait({ begin: [], wanted, park })).toEqual({
    taken: { path: "1", payload: "7" },
    parked: false,
    canceled: false,
  });
  expect(await at.run.takeAll({ ...done, path: "3", kind: "poll", name: "go" })).toBe("[8]");
  expect((await at.run.load()).find(({ path }) => path === "3")).toMatchObject({ state: "done", out: "[8]" });
  at.cancel();
  expect(await at.run.wait({ begin: [], wanted, park })).toEqual({ parked: false, canceled: true });
  expect(at.row()?.status).toBe("running");
  await using other = claimed();
  expect(await other.run.wait({ begin: [], wanted, park })).toEqual({ parked: true, canceled: false });
  expect(other.row()).toEqual({ status: "waiting", owner: null, awaited: '["go"]' });
});

test("a run that is handed back can be claimed at once", async () => {
  await using at = claimed();
  await at.run.release();
  expect(at.row()).toMatchObject({ status: "queued", owner: null });
});
