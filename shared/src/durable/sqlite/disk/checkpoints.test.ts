import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { scratch } from "../../../testing/durable/scratch.ts";
import { LogCheckpoints, type LogCheckpointsOptions } from "./checkpoints.ts";

/** A store whose log nobody else brings into its file. */
function logged(path: string) {
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run("CREATE TABLE t (n INTEGER PRIMARY KEY, filling BLOB)");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const insert = db.query("INSERT INTO t (filling) VALUES (zeroblob(?))");
  const log = db.query<{ log: number; checkpointed: number }, []>("PRAGMA wal_checkpoint(NOOP)");
  return {
    /** One row, of about so many pages. */
    insert: (pages: number) => void insert.run(pages * 4_096),
    /** How many rows are in the file. */
    inFile() {
      copyFileSync(path, `${path}.copy`);
      using copy = new Database(`${path}.copy`);
      return copy.query<{ rows: number }, []>("SELECT count(*) AS rows FROM t").get()?.rows;
    },
    /** How many pages the log has. */
    length: () => log.get()?.log ?? 0,
    /** How many of them are not in the file. */
    pages() {
      const { log: all = 0, checkpointed = 0 } = log.get() ?? {};
      return all - checkpointed;
    },
    [Symbol.dispose]: () => db.close(),
  };
}

/** The event loop brings in nothing, commits never wait, and nothing fails. */
const never: Omit<LogCheckpointsOptions, "path" | "pages"> = {
  checkpoint: () => expect.unreachable(),
  onResumed: () => expect.unreachable(),
  onFailed: () => expect.unreachable(),
};

test("while much is written a thread brings the log into the file, then commits wait until it has what they added, and the log begins anew", async () => {
  using store = scratch();
  using log = logged(store.path);
  const resumed = Promise.withResolvers<void>();
  const checkpoints = new LogCheckpoints({
    ...{ path: store.path, pages: log.pages },
    ...{ ...never, onResumed: () => resumed.resolve() },
  });
  log.insert(3_000);
  checkpoints.committed(100);
  expect(checkpoints.isInThread).toBe(false);
  log.insert(1_100);
  checkpoints.committed(100);
  expect([checkpoints.isInThread, checkpoints.isPausing]).toEqual([true, false]);
  log.insert(1);
  // Meanwhile nothing else is begun.
  checkpoints.committed(5_000);
  let hasPaused = false;
  while (checkpoints.isInThread) {
    hasPaused ||= checkpoints.isPausing;
    await new Promise(setImmediate);
  }
  await resumed.promise;
  expect([hasPaused, checkpoints.isPausing, log.inFile(), log.pages()]).toEqual([true, false, 3, 0]);
  log.insert(1);
  expect(log.length()).toBeLessThan(10);
  await checkpoints.close();
});

test("while little is written the event loop brings the log into the file, and needs no thread", async () => {
  using store = scratch();
  let [done, pages] = [0, 799];
  const checkpoint = () => {
    done++;
    pages = 0;
  };
  const options = { ...never, path: store.path, pages: () => pages, checkpoint };
  const checkpoints = new LogCheckpoints({ ...options, busyMs: 0 });
  checkpoints.committed(100);
  expect(done).toBe(0);
  pages = 800;
  // It is not looked at after each commit.
  checkpoints.committed(31);
  expect(done).toBe(0);
  checkpoints.committed(1);
  expect(done).toBe(1);
  await checkpoints.close();
  pages = 800;
  checkpoints.committed(100);
  expect(done).toBe(1);
});

test("what a few large commits have written is brought in by a thread however seldom they come", async () => {
  using store = scratch();
  using log = logged(store.path);
  const resumed = Promise.withResolvers<void>();
  const options = { ...never, path: store.path, pages: log.pages, onResumed: () => resumed.resolve() };
  const checkpoints = new LogCheckpoints({ ...options, busyMs: 0 });
  log.insert(1_600);
  checkpoints.committed(32);
  await resumed.promise;
  expect(log.inFile()).toBe(1);
  await checkpoints.close();
});

test("what a reader keeps in the log is not tried again until as much has come to it", async () => {
  using store = scratch();
  let [done, pages] = [0, 900];
  const checkpoint = () => void done++;
  const options = { ...never, path: store.path, pages: () => pages, checkpoint };
  const checkpoints = new LogCheckpoints({ ...options, busyMs: 0 });
  const doneAt = (now: number) => {
    pages = now;
    checkpoints.committed(32);
    return done;
  };
  expect([900, 1_699, 1_700].map(doneAt)).toEqual([1, 1, 2]);
  // The reader has left.
  expect([799, 10, 810].map(doneAt)).toEqual([2, 2, 3]);
  await checkpoints.close();
});

test("a thread that fails says so, with the code, and commits go on", async () => {
  using store = scratch();
  const told: unknown[] = [];
  const checkpoints = new LogCheckpoints({
    ...{ ...never, path: `${store.path}/nowhere`, pages: () => 4_000 },
    onFailed: (error) => void told.push(error),
    onResumed: () => void told.push(checkpoints.isPausing),
  });
  checkpoints.committed(1_000);
  checkpoints.committed(1_000);
  await checkpoints.close();
  expect(told).toMatchObject([{ code: "SQLITE_CANTOPEN" }, false]);
});
