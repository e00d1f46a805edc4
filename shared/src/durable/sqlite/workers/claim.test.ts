import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import { type Engine, silentLog } from "../../../core/runs/engine.ts";
import type { Run } from "../../../core/runs/run.ts";
import { scratch } from "../../../testing/durable/scratch.ts";
import { until } from "../../../testing/durable/until.ts";
import { createEmbeddedEngine } from "../embedded-engine.ts";

const request = { kind: "k", input: null, principal: "p", contextId: "c", dedupe: { key: "m1", hash: "h" } };

/** An engine whose worker is registered, so that it executes at once what it accepts. */
async function working(path: string, execute: (run: Run) => Promise<null>, leaseMs = 15_000): Promise<Engine> {
  const engine = createEmbeddedEngine({ path, leaseMs });
  engine.work([{ kind: "k", execute }]);
  const { run } = await engine.start({ ...request, dedupe: { key: crypto.randomUUID() } });
  await ended(engine, run.id);
  return engine;
}

async function ended(engine: Engine, id: string): Promise<void> {
  let last = "";
  for await (const item of engine.follow(id, { signal: AbortSignal.timeout(10_000) }))
    if (item.kind === "event") last = item.event.type;
  expect(last).toBe("run-ended");
}

test("a step with effects waits until its run is on disk", async () => {
  using store = scratch();
  const found: unknown[] = [];
  const engine = await working(store.path, async (run) => {
    await run.step("act", async () => {
      using db = new Database(store.path, { readonly: true });
      found.push(db.query("SELECT id FROM runs WHERE id = ?").get(run.id));
      return null;
    });
    return null;
  });
  const { run } = await engine.start(request);
  await ended(engine, run.id);
  expect(found.at(-1)).toEqual({ id: run.id });
  await engine.close();
});

test("a run whose journal cannot be read pauses with what is wrong, once, and others go on", async () => {
  using store = scratch();
  const execute = async (run: Run) => {
    await run.step("try", () => Promise.reject(new AppError("task_failed", "No."))).catch(() => undefined);
    await run.signal("go");
    return null;
  };
  const before = createEmbeddedEngine({ path: store.path });
  before.work([{ kind: "k", execute }]);
  const { run } = await before.start(request);
  await until(async () => (await before.get(run.id))?.status === "waiting");
  await before.close();
  using db = new Database(store.path);
  db.run("UPDATE journal SET error = '{' WHERE error IS NOT NULL");
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (...said: unknown[]) => void errors.push(said) };
  const engine = createEmbeddedEngine({ path: store.path, log });
  engine.work([{ kind: "k", execute }]);
  await engine.deliver(run.id, "go", null);
  await until(async () => (await engine.get(run.id))?.status === "paused");
  expect((await engine.get(run.id))?.error).toMatchObject({ code: "internal" });
  const { run: other } = await engine.start({ ...request, dedupe: { key: "m2" } });
  await engine.deliver(other.id, "go", null);
  await ended(engine, other.id);
  expect(errors).toHaveLength(1);
  await engine.close();
});

test("of a message that two workers accept at once, one executes the run, and no effect happens twice", async () => {
  using store = scratch();
  let acts = 0;
  const body = async (run: Run) => {
    await run.step("compute", async () => 1, { effect: "pure" });
    await run.step("act", async () => ++acts);
    await run.step("act once", async () => ++acts, { effect: "once" });
    return null;
  };
  const engines = [await working(store.path, body), await working(store.path, body)];
  for (let n = 0; n < 20; n++) {
    acts = 0;
    const again = { ...request, dedupe: { key: `m${n}`, hash: "h" } };
    const both = await Promise.all(engines.map((engine) => engine.start(again)));
    expect(new Set(both.map(({ run }) => run.id)).size).toBe(1);
    expect(both.map(({ created }) => created).toSorted()).toEqual([false, true]);
    for (const [at, { run }] of both.entries()) await ended(engines[at] as Engine, run.id);
    expect(acts).toBe(2);
  }
  for (const engine of engines) await engine.close();
});

test("a message whose acceptance is refused leaves nothing, and does nothing with effects", async () => {
  using store = scratch();
  let acts = 0;
  const engine = await working(store.path, async (run) => {
    await run.step("act", async () => ++acts);
    return null;
  });
  // There is one place, which the message that is refused has meanwhile.
  engine.work([], { concurrency: 1 });
  for (const key of ["before", "and before"])
    await ended(engine, (await engine.start({ ...request, dedupe: { key } })).run.id);
  acts = 0;
  using db = new Database(store.path);
  db.run("CREATE TRIGGER refuse BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'refused'); END");
  expect(await engine.start(request).then(String, String)).toContain("refused");
  db.run("DROP TRIGGER refuse");
  const { run } = await engine.start(request);
  await ended(engine, run.id);
  expect([acts, db.query("SELECT count(*) AS n FROM runs").get()]).toEqual([1, { n: 4 }]);
  await engine.close();
});

test.each([
  ["to nothing", undefined, 2],
  ["to limits that none of its uses decides", { requestsPerMinute: 9 }, 2],
  ["to as many runs at once", { runsAtOnce: 9 }, 3],
])(
  "what a run computes at first is stored in the commit that accepts it, if its principal is held %s, also under a key that is used again",
  async (_, quota, syncs) => {
    using store = scratch();
    let synced = 0;
    const engine = createEmbeddedEngine({ path: store.path, leaseMs: 60_000, syncFile: async () => void synced++ });
    engine.work([
      {
        kind: "k",
        async execute(run) {
          await run.step("compute", async () => 1, { effect: "pure" });
          return await run.step("ask", async () => 2, { effect: "idempotent" });
        },
      },
    ]);
    const about = { kind: "k", input: null, principal: "p", contextId: "c", quota };
    await ended(engine, (await engine.start(about)).run.id);
    for (const dedupe of [undefined, { key: "again", withinMs: 0 }, { key: "again", withinMs: 0 }]) {
      synced = 0;
      await ended(engine, (await engine.start({ ...about, ...(dedupe && { dedupe }) })).run.id);
      expect(synced).toBe(syncs);
    }
    await engine.close();
  },
);

/** A body that emits an event and is over at once. */
const brief = async (run: Run) => {
  run.emit({ type: "notice-given", kind: "budget", text: run.id });
  return null;
};

test("a run that is over at once is stored whole by one commit, and told whole to whoever started it", async () => {
  using store = scratch();
  const engine = await working(store.path, brief);
  using db = new Database(store.path);
  const message = { type: "message-received", messageId: "m1", parts: [] };
  const { run, ended: over } = await engine.start({ ...request, events: [message] });
  // Whoever follows it from there misses nothing.
  expect(run).toMatchObject({ status: "running", lastEvent: 1 });
  expect(over?.run).toMatchObject({ status: "completed", output: null, lastEvent: 3 });
  expect(over?.events.map(({ event }) => event.type)).toEqual(["message-received", "notice-given", "run-ended"]);
  expect([await engine.get(run.id), await engine.events(run.id)]).toEqual([over?.run, [...(over?.events ?? [])]]);
  const rows = db.query("SELECT path, state FROM journal JOIN runs ON n = run WHERE id = ?").all(run.id);
  expect(rows).toEqual([{ path: "-.0", state: "done" }]);
  const again = await engine.start({ ...request, events: [message] });
  expect([again.created, again.run, again.ended]).toEqual([false, over?.run, undefined]);
  expect(await engine.events(run.id)).toHaveLength(3);
  await engine.close();
});

test("a message is accepted although what its run began with cannot be stored: the run pauses, and goes on later", async () => {
  using store = scratch();
  const engine = await working(store.path, brief);
  using db = new Database(store.path);
  db.run("CREATE TRIGGER refuse BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'refused'); END");
  const { run, created, ended: over } = await engine.start(request);
  expect([created, run.status, over]).toEqual([true, "queued", undefined]);
  const { promise: paused, resolve } = Promise.withResolvers<void>();
  const read = (async () => {
    for await (const item of engine.follow(run.id, { signal: AbortSignal.timeout(10_000) }))
      if (item.kind === "event" && item.event.type === "run-paused") resolve();
  })();
  await paused;
  db.run("DROP TRIGGER refuse");
  await engine.resume(run.id);
  await read;
  const types = (await engine.events(run.id)).map(({ event }) => event.type);
  expect(types).toEqual(["run-paused", "run-resumed", "notice-given", "run-ended"]);
  await engine.close();
});

test("a run that is accepted by a worker declared dead meanwhile is executed by one that is there", async () => {
  using store = scratch();
  const engine = await working(store.path, brief);
  using db = new Database(store.path);
  db.run("DELETE FROM workers");
  const { run, ended: over } = await engine.start(request);
  expect([run.status, over]).toEqual(["queued", undefined]);
  const other = createEmbeddedEngine({ path: store.path });
  other.work([{ kind: "k", execute: brief }]);
  await ended(other, run.id);
  expect((await other.events(run.id)).map(({ event }) => event.type)).toEqual(["notice-given", "run-ended"]);
  await Promise.all([engine, other].map((one) => one.close()));
});

test("a run that was canceled while its worker died ends as soon as another claims it, and its body does not go on", async () => {
  using store = scratch();
  let begun = 0;
  const body = async () => {
    begun++;
    return null;
  };
  // It does not wake the other's readers by its heartbeats.
  const engine = await working(store.path, body, 600_000);
  using db = new Database(store.path);
  const { run } = await engine.start({ ...request, kind: "other" });
  const { run: plain } = await engine.start({ ...request, kind: "other", dedupe: { key: "m2" } });
  // So a claim leaves a run whose worker was declared dead.
  db.run("UPDATE runs SET kind = 'k', epoch = 1, body = 1, cancel_requested = 1 WHERE id = ?", [run.id]);
  db.run("UPDATE runs SET kind = 'k' WHERE id = ?", [plain.id]);
  begun = 0;
  const other = createEmbeddedEngine({ path: store.path });
  const read = Promise.all([run, plain].map(({ id }) => ended(other, id)));
  other.work([{ kind: "k", execute: body }]);
  await read;
  expect([(await engine.get(run.id))?.status, (await engine.get(plain.id))?.status]).toEqual(["canceled", "completed"]);
  expect([begun, (await engine.events(run.id)).map(({ event }) => event.status)]).toEqual([1, ["canceled"]]);
  await Promise.all([engine, other].map((one) => one.close()));
});

test("a run that comes while there is no room begins when the one before it has ended", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const gate = Promise.withResolvers<null>();
  const execute = (run: Run, input: Json) =>
    input === "held" ? run.step("wait", () => gate.promise) : Promise.resolve(null);
  engine.work([{ kind: "k", execute }], { concurrency: 1 });
  const start = async (input: string) => (await engine.start({ ...request, input, dedupe: { key: input } })).run;
  // By then the worker knows that nothing is left to claim.
  for (const name of ["first", "second"]) await ended(engine, (await start(name)).id);
  const held = await start("held");
  const late = await start("late");
  gate.resolve(null);
  for (const { id } of [held, late]) await ended(engine, id);
  await engine.close();
});

test("a worker that is closed while runs come to it leaves none of them behind", async () => {
  using store = scratch();
  const elsewhere = createEmbeddedEngine({ path: store.path });
  const left: string[] = [];
  for (let turns = 0; turns < 8; turns++) {
    const engine = await working(store.path, brief);
    const about = { kind: "k", input: null, principal: "p", contextId: "c" };
    if (turns % 2 === 0) left.push((await elsewhere.start(about)).run.id);
    // Held to a limit, it begins once it is stored.
    const own = engine.start({ ...about, quota: { runsAtOnce: 99 } });
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    await engine.close({ graceMs: 0 });
    const started = await own.catch(() => undefined);
    if (started !== undefined) left.push(started.run.id);
  }
  elsewhere.work([{ kind: "k", execute: brief }]);
  for (const id of left) await ended(elsewhere, id);
  await elsewhere.close();
});
