import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { silentLog } from "../../../core/runs/engine.ts";
import { scratch } from "../../../testing/durable/scratch.ts";
import { until } from "../../../testing/durable/until.ts";
import { machineClock } from "../machine-clock.ts";
import { ownIdentity } from "../process-identity.ts";
import { RunClock } from "../run-clock.ts";
import { Writer } from "../writer.ts";
import { Heartbeat } from "./heartbeat.ts";

const leaseMs = 200;

/** A worker of another machine, known only by its heartbeats, and a run it holds. */
function otherWorker(path: string) {
  const db = new Database(path);
  db.run("INSERT INTO workers (id, host, pid, process_start) VALUES ('other', 'elsewhere', 1, '')");
  db.run(`INSERT INTO runs (id, kind, status, principal, context_id, input, owner, epoch, created_at, updated_at)
    VALUES ('r', 'k', 'running', 'p', 'c', 'null', 'other', 1, 0, 0)`);
  return {
    beat: () => void db.run("UPDATE workers SET beat = beat + 1 WHERE id = 'other'"),
    isThere: () => db.query("SELECT id FROM workers WHERE id = 'other'").get() !== null,
    run: () => db.query("SELECT status, owner FROM runs").get(),
    [Symbol.dispose]: () => db.close(),
  };
}

/** Calls this whenever something is read from the store. */
function eachLook(writer: Writer, call: () => void): void {
  const read = writer.read.bind(writer);
  writer.read = (run, how) => {
    call();
    return read(run, how);
  };
}

function heartbeat(writer: Writer, lease = leaseMs): Heartbeat {
  const clock = new RunClock(machineClock(), silentLog);
  const ignore = () => undefined;
  return new Heartbeat({ writer, log: silentLog, clock, leaseMs: lease, onDeclaredDead: ignore, onClaimable: ignore });
}

test("a worker that is silent for a lease is declared dead, and its runs are released", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  const own = heartbeat(writer);
  const from = performance.now();
  own.start();
  await until(() => !other.isThere());
  expect(performance.now() - from).toBeGreaterThanOrEqual(leaseMs);
  expect(other.run()).toEqual({ status: "queued", owner: null });
  await own.stop();
  await writer.close(1000);
});

test("a worker that shows life just before it is declared dead keeps its slot and its runs", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  let declared = 0;
  const offer = writer.offer.bind(writer);
  // Its heartbeat is committed between this worker's check and its declaration.
  writer.offer = (run) =>
    offer((tables) => {
      const real = tables.workers.removeUnmoved;
      tables.workers.removeUnmoved = (id, beat) => {
        declared++;
        tables.workers.beat("other");
        return real(id, beat);
      };
      try {
        return run(tables);
      } finally {
        tables.workers.removeUnmoved = real;
      }
    });
  const own = heartbeat(writer);
  own.start();
  await until(() => declared >= 2);
  expect([other.isThere(), other.run()]).toEqual([true, { status: "running", owner: "other" }]);
  await own.stop();
  await writer.close(1000);
});

test("a worker that shows life again and again is never declared dead, however long it is watched", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  let looks = 0;
  eachLook(writer, () => {
    // As often as a worker does.
    if (looks++ % 4 === 0) other.beat();
  });
  const own = heartbeat(writer, 100);
  own.start();
  // A lease is twenty looks.
  await until(() => looks > 60);
  expect([other.isThere(), other.run()]).toEqual([true, { status: "running", owner: "other" }]);
  await own.stop();
  await writer.close(1000);
});

test("a worker silent while the storage failed is not declared dead when the storage works again", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  let isFull = false;
  let looks = 0;
  const offer = writer.offer.bind(writer);
  const read = writer.read.bind(writer);
  writer.offer = (run) =>
    isFull ? Promise.reject(new AppError("storage_unavailable", "its disk is full")) : offer(run);
  writer.read = (run) => {
    looks++;
    return read(run);
  };
  // Neither pause is long enough alone; both together would be.
  const lease = 1_000;
  const own = heartbeat(writer, lease);
  own.start();
  await until(() => looks > 0);
  isFull = true;
  const since = performance.now();
  await until(() => performance.now() - since > 0.85 * lease);
  isFull = false;
  const before = looks;
  await until(() => looks >= before + 6);
  expect([other.isThere(), other.run()]).toEqual([true, { status: "running", owner: "other" }]);
  await own.stop();
  await writer.close(1000);
});

test("a worker shows life at every fourth look at the others, and once it has stopped it does neither and is gone", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  const seen = { looks: 0, beats: 0 };
  const { read, offer } = { read: writer.read.bind(writer), offer: writer.offer.bind(writer) };
  writer.read = (run) => {
    seen.looks++;
    return read(run);
  };
  writer.offer = (run) => {
    seen.beats++;
    return offer(run);
  };
  const own = heartbeat(writer);
  expect(own.id).toBeUndefined();
  own.start();
  await until(() => seen.looks >= 12);
  expect(own.id).toBeDefined();
  // The first beat registers the worker.
  expect(seen.beats).toBeGreaterThanOrEqual(3);
  expect(seen.beats / seen.looks).toBeLessThan(0.5);
  await own.stop();
  const workers = await read((tables) => tables.workers.all());
  expect(workers).toEqual([]);
  const before = { ...seen };
  await Bun.sleep(leaseMs);
  expect(seen).toEqual(before);
  await writer.close(1000);
});

test("a worker that was declared dead gives up its runs, and begins again under another id", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  const told = { dead: 0, claimable: 0 };
  const own = new Heartbeat({
    writer,
    log: silentLog,
    clock: new RunClock(machineClock(), silentLog),
    leaseMs,
    onDeclaredDead: () => void told.dead++,
    onClaimable: () => void told.claimable++,
  });
  own.start();
  await until(() => own.id !== undefined);
  expect(told).toEqual({ dead: 0, claimable: 1 });
  const first = own.id ?? "";
  await writer.offer((tables) => tables.workers.remove(first));
  await until(() => told.claimable > 1);
  expect(told).toEqual({ dead: 1, claimable: 2 });
  expect([own.id === first, typeof own.id]).toEqual([false, "string"]);
  expect((await writer.read((tables) => tables.workers.all())).map(({ id }) => id)).toEqual([own.id ?? ""]);
  await own.stop();
  await writer.close(1000);
});

test("what a dead worker held may be claimed here, and the time of the last beat is kept for those who come later", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  let claimable = 0;
  const own = new Heartbeat({
    ...{ writer, log: silentLog, clock: new RunClock(machineClock(), silentLog), leaseMs },
    ...{ onDeclaredDead: () => undefined, onClaimable: () => void claimable++ },
  });
  own.start();
  await until(() => own.id !== undefined);
  const reading = () => writer.read((tables) => tables.clock.read()?.uptime ?? 0);
  const first = await reading();
  expect([claimable, first > 0]).toEqual([1, true]);
  await until(() => claimable > 1);
  expect([other.isThere(), other.run()]).toEqual([false, { status: "queued", owner: null }]);
  await until(async () => (await reading()) > first);
  await own.stop();
  await writer.close(1000);
});

test("a machine that slept takes nobody for dead, whatever the time says", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  let looks = 0;
  eachLook(writer, () => {
    looks++;
  });
  const own = heartbeat(writer, 2_000);
  own.start();
  await until(() => looks >= 2);
  const now = performance.now.bind(performance);
  const clock = spyOn(performance, "now").mockImplementation(() => now() + 3_600_000);
  const before = looks;
  while (looks < before + 3) await new Promise((resolve) => setTimeout(resolve, 1));
  clock.mockRestore();
  expect([other.isThere(), other.run()]).toEqual([true, { status: "running", owner: "other" }]);
  await own.stop();
  await writer.close(1000);
});

test("a worker says as it beats that the clock of its machine was set", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  const told: unknown[] = [];
  let set = 0;
  const machine = { boot: "b", wall: () => performance.now() + set, uptime: () => performance.now() };
  const own = new Heartbeat({
    ...{ writer, log: silentLog, leaseMs, onDeclaredDead: () => undefined, onClaimable: () => undefined },
    clock: new RunClock(machine, { ...silentLog, warn: (about) => void told.push(about) }),
  });
  own.start();
  await until(() => own.id !== undefined);
  set = 3_600_000;
  await until(() => told.length > 0);
  expect(told).toEqual([{ seconds: 3_600, way: "forward" }]);
  await own.stop();
  await writer.close(1000);
});

test("a worker of this machine whose process has ended is declared dead long before its lease is over", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using other = otherWorker(store.path);
  const child = Bun.spawn(["true"]);
  await child.exited;
  await writer.offer(({ workers }) => {
    workers.remove("other");
    workers.insert("other", { ...ownIdentity(), pid: child.pid });
  });
  const own = heartbeat(writer, 3_600_000);
  own.start();
  await until(() => !other.isThere(), 10_000);
  expect(other.run()).toEqual({ status: "queued", owner: null });
  await own.stop();
  await writer.close(1000);
});
