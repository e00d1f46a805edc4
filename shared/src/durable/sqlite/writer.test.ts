import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { AppError } from "../../core/errors.ts";
import { silentLog } from "../../core/runs/engine.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { until } from "../../testing/durable/until.ts";
import type { Tables } from "./tables/tables.ts";
import { Writer } from "./writer.ts";

const identity = { host: "h", pid: 1, processStart: "" };
const insert = (id: string) => (tables: Tables) => tables.workers.insert(id, identity);
const idsIn = (writer: Writer) => writer.read((tables) => tables.workers.all().map((worker) => worker.id));

function writerOf(path: string, onRecovered = () => undefined): Writer {
  return new Writer({ path, log: silentLog, onRecovered });
}

/** An entry that is its own fault. */
function refuse(tables: Tables): never {
  insert("refused")(tables);
  throw new AppError("conflict", "no");
}

/** An entry that fails like a full disk the first times it is run, and then succeeds. */
function failing(times: number, then: (tables: Tables) => void): (tables: Tables) => void {
  let left = times;
  return (tables) => {
    then(tables);
    if (left-- > 0) throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
  };
}

test("only an entry that throws is undone and rejects; the rest of its batch is committed", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  const [before, refused, twice, after] = await Promise.allSettled([
    writer.write(insert("before")),
    writer.write(refuse),
    writer.write((tables) => {
      insert("half")(tables);
      insert("before")(tables);
    }),
    writer.write(insert("after")),
  ]);
  expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  expect(twice).toMatchObject({ status: "rejected", reason: { code: expect.stringContaining("SQLITE_CONSTRAINT") } });
  expect(await idsIn(writer)).toEqual(["before", "after"]);
  await writer.close(100);
});

test("when the storage fails under one entry, the whole batch is tried again until it is committed", async () => {
  using store = scratch();
  let recovered = 0;
  const writer = writerOf(store.path, () => void recovered++);
  const written = Promise.all([
    writer.write(insert("a")),
    // Who is refused beside it is so once, and has no part in that.
    writer.write(refuse).catch((error) => error.code),
    writer.write(failing(3, insert("b"))),
    writer.write(insert("c")),
  ]);
  const offered = writer.offer(insert("offered"));
  expect(await offered.catch((error) => error.code)).toBe("storage_unavailable");
  expect(writer.health()).toMatchObject({ ok: false, reason: expect.stringContaining("disk is full") });
  expect(await writer.offer(insert("later")).catch((error) => error.code)).toBe("storage_unavailable");
  expect((await written)[1]).toBe("conflict");
  expect(writer.health()).toEqual({ ok: true });
  expect(recovered).toBe(1);
  expect(await idsIn(writer)).toEqual(["a", "b", "c"]);
  using db = new Database(store.path);
  // What was written to see whether it works again is gone.
  expect(db.query("SELECT count(*) AS rows FROM probe").get()).toEqual({ rows: 0 });
  await writer.close(100);
});

test("close commits the queue, and gives up in time if the storage does not work", async () => {
  using store = scratch();
  const slow = { path: store.path, log: silentLog, onRecovered: () => undefined, syncFile: () => Bun.sleep(30) };
  const writer = new Writer(slow);
  const queued = writer.write(insert("queued"));
  await writer.close(1000);
  await queued;
  const again = writerOf(store.path);
  expect(await idsIn(again)).toEqual(["queued"]);
  const hopeless = again.write(failing(Number.POSITIVE_INFINITY, insert("hopeless")));
  const begun = performance.now();
  await again.close(50);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(await hopeless.catch((error) => error.code)).toBe("storage_unavailable");
  expect(await again.write(insert("x")).catch((error) => error.code)).toBe("unavailable");
});

test("writes that take long together share no transaction, so that everything else has its turn between them", async () => {
  using store = scratch();
  let transactions = 0;
  const onCommitted = () => void transactions++;
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined, onCommitted });
  const slow = (id: string) => (tables: Tables) => {
    insert(id)(tables);
    Bun.sleepSync(3);
  };
  const ids = Array.from({ length: 12 }, (_, n) => `w${n}`);
  const left = new Set(ids);
  // With one that is refused the others of its transaction are run apart.
  const refused = writer.write(refuse).catch((error) => error.code);
  const written = ids.map((id) => writer.write(slow(id)).then(() => left.delete(id)));
  let leftAtTurn = 0;
  const turn = setInterval(() => {
    leftAtTurn ||= left.size;
  });
  await Promise.all(written);
  expect(await refused).toBe("conflict");
  clearInterval(turn);
  expect(await idsIn(writer)).toEqual(ids);
  expect(transactions).toBeGreaterThan(2);
  expect(transactions).toBeLessThan(12);
  expect(leftAtTurn).toBeGreaterThan(0);
  await writer.close(100);
});

test("a patient write shares the commit of the next, unless it is hurried; alone it is committed too", async () => {
  using store = scratch();
  let transactions = 0;
  const onCommitted = () => void transactions++;
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined, onCommitted });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const patient = (id: string) => writer.write(insert(id), { patient: true });
  // Its patience ends when the test says so; what else waits in this process does as ever.
  const patience: (() => void)[] = [];
  const usual = globalThis.setTimeout;
  using timers = spyOn(globalThis, "setTimeout").mockImplementation(((end: () => void, ms: number) =>
    ms === 10 ? patience.push(end) : usual(end, ms)) as never);
  const first = patient("a");
  for (let turns = 0; turns < 9; turns++) await turn();
  expect([transactions, patience.length]).toEqual([0, 1]);
  const both = [first, writer.write(insert("b"))];
  await turn();
  expect(transactions).toBe(1);
  await Promise.all(both);
  const hurried = patient("c");
  writer.hurry();
  await turn();
  expect(transactions).toBe(2);
  const alone = patient("d");
  patience.at(-1)?.();
  await Promise.all([hurried, alone]);
  timers.mockRestore();
  expect([transactions, patience.length, await idsIn(writer)]).toEqual([3, 3, ["a", "b", "c", "d"]]);
  await writer.close(100);
});

test("a read waits while another holds the lock, says what a damaged store is, and passes on what is its own fault", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  const reading = (code: string, times: number) => {
    let left = times;
    return writer.read(() => {
      if (left-- > 0) throw Object.assign(new Error("not read"), { code });
      return "read";
    });
  };
  expect([await reading("SQLITE_BUSY", 3), writer.health()]).toEqual(["read", { ok: true }]);
  expect(await reading("SQLITE_CONSTRAINT", 1).catch((error) => error.code)).toBe("SQLITE_CONSTRAINT");
  expect(writer.health()).toEqual({ ok: true });
  const damaged = await reading("SQLITE_CORRUPT", 1).catch((error) => error);
  expect(damaged).toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("it is damaged") });
  expect(writer.health().ok).toBe(false);
  await until(() => writer.health().ok);
  await writer.close(100);
});

test("reads that share a turn see one moment, also if another process writes meanwhile; one that fails, fails alone", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  await writer.write(insert("before"));
  using other = new Database(store.path);
  const ids = (tables: Tables) => tables.workers.all().map(({ id }) => id);
  const first = writer.shared.read((tables) => {
    const seen = ids(tables);
    other.run("INSERT INTO workers (id, host, pid, process_start) VALUES ('meanwhile', 'h', 2, '')");
    return seen;
  });
  const second = writer.shared.read(ids);
  expect(await Promise.all([first, second])).toEqual([["before"], ["before"]]);
  const alone = writer.shared.read(ids);
  expect(await alone).toEqual(["before", "meanwhile"]);
  const refusing = () => {
    throw new AppError("conflict", "no");
  };
  const [refused, beside] = await Promise.allSettled([writer.shared.read(refusing), writer.shared.read(ids)]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  expect(beside).toMatchObject({ status: "fulfilled", value: ["before", "meanwhile"] });
  await writer.close(100);
  const closed = await Promise.allSettled([writer.shared.read(ids), writer.shared.read(ids)]);
  expect(closed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("what is read is on disk before it is told, once for each commit of another, also after the store was opened anew", async () => {
  using store = scratch();
  let syncs = 0;
  const syncFile = async () => void syncs++;
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined, syncFile });
  using db = new Database(store.path);
  const commit = (id: string) =>
    db.run("INSERT INTO workers (id, host, pid, process_start) VALUES (?, 'h', 1, '')", [id]);
  const syncsOf = async (work: () => Promise<unknown>) => {
    const before = syncs;
    await work();
    return syncs - before;
  };
  const read = () => syncsOf(() => idsIn(writer));
  expect([await read(), await read()]).toEqual([1, 0]);
  commit("a");
  expect(await syncsOf(() => writer.read((tables) => tables.workers.all(), { early: true }))).toBe(0);
  expect([await read(), await read()]).toEqual([1, 0]);
  await writer.write(failing(1, insert("b")));
  commit("c");
  expect([await read(), await read()]).toEqual([1, 0]);
  // The new connection counts from the same number as the former one did.
  const anew = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined, syncFile });
  expect(await syncsOf(() => idsIn(anew))).toBe(1);
  await anew.write(failing(1, insert("d")));
  expect(await syncsOf(() => idsIn(anew))).toBe(1);
  for (const one of [anew, writer]) await one.close(100);
});

test("a closed writer keeps no file open, and while it writes the log does not grow on", async () => {
  using store = scratch();
  const writer = new Writer({
    path: store.path,
    log: silentLog,
    onRecovered: () => undefined,
    syncFile: async () => {},
  });
  for (let n = 0; n < 300; n++) await writer.write(insert(`w${n}`));
  expect(Bun.file(`${store.path}-wal`).size).toBeLessThan(2_000_000);
  const open = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(store.path);
      } catch {
        return false;
      }
    }).length;
  expect(open()).toBeGreaterThan(0);
  await writer.close(100);
  await until(() => open() === 0);
});

/** What reads the store, and until its COMMIT keeps the log from being emptied. */
function readerInTheWay(path: string): Database {
  const reader = new Database(path, { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM workers").get();
  return reader;
}

test("the log is emptied once a reader is out of its way", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  await writer.write(insert("a"));
  using reader = readerInTheWay(store.path);
  const emptied = writer.emptyLog();
  reader.run("COMMIT");
  expect([await emptied, Bun.file(`${store.path}-wal`).size]).toEqual([true, 0]);
  await writer.close(100);
});

test("the log is emptied although the process stood still for longer than it waits for a reader", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  await writer.write(insert("a"));
  using reader = readerInTheWay(store.path);
  const emptied = writer.emptyLog();
  reader.run("COMMIT");
  const standstill = performance.now() + 60_000;
  using _ = spyOn(performance, "now").mockImplementation(() => standstill);
  expect(await emptied).toBe(true);
  await writer.close(100);
});

test("while a reader is in the way of the log, everything else has its turn", async () => {
  using store = scratch();
  const writer = writerOf(store.path);
  await writer.write(insert("a"));
  using reader = readerInTheWay(store.path);
  let [isTrying, short] = [true, 0];
  const emptied = writer.emptyLog().finally(() => {
    isTrying = false;
  });
  // It tries again in each of these. A try that waits for the reader makes all of them long.
  while (isTrying && short < 10) {
    const begun = performance.now();
    await Bun.sleep(20);
    if (performance.now() - begun < 100) short++;
  }
  expect([isTrying, short]).toEqual([true, 10]);
  reader.run("COMMIT");
  expect(await emptied).toBe(true);
  await writer.close(100);
});

test("after a sync that failed nothing is told to be on disk before all of the log is, whoever reads it meanwhile", async () => {
  using store = scratch();
  const reasons: unknown[] = [];
  const log = { ...silentLog, error: (about: { reason?: string }) => void reasons.push(about.reason) };
  let failures = 1;
  const syncFile = async () => {
    if (failures-- > 0) throw new Error("EIO");
  };
  const writer = new Writer({ path: store.path, log, onRecovered: () => undefined, syncFile });
  using reader = readerInTheWay(store.path);
  let isTold = false;
  const written = writer.write(insert("a")).then(() => {
    isTold = true;
  });
  await until(() => reasons.length >= 2 || isTold);
  expect([reasons, isTold]).toEqual([["EIO", "it is read while it has to be written"], false]);
  reader.run("COMMIT");
  await written;
  expect(writer.health()).toEqual({ ok: true });
  await writer.close(100);
});
